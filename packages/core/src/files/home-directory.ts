/** Whose machine it is: the one place that says where the user's own files are. */
import { homedir, userInfo } from 'node:os';
import { parse, posix, win32 } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Always absolute. Empty or relative means unset: it would lie in the current directory, and a project that ships
 * `.config/turnbuckle/mcp.json` would pass for its user.
 */
export function homeDirectory(environment: Environment): string {
  const { platform } = process;
  return (
    absoluteOnly(environment.HOME, platform) ??
    (platform === 'win32' ? absoluteOnly(environment.USERPROFILE, platform) : undefined) ??
    absoluteOnly(ofSystem(homedir), platform) ??
    absoluteOnly(
      ofSystem(() => userInfo().homedir),
      platform,
    ) ??
    // Nobody has one here. The root is at least nobody's project.
    parse(process.cwd()).root
  );
}

/** Undefined for one that would mean something else in every directory. */
export function absoluteOnly(path: string | undefined, platform: NodeJS.Platform): string | undefined {
  const { isAbsolute } = platform === 'win32' ? win32 : posix;
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** The system knows nothing of a user that was never set up, as in some containers. */
function ofSystem(ask: () => string): string | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
