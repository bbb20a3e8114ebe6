/** The only place that determines where the user's own files are. */
import { homedir, userInfo } from 'node:os';
import { parse, posix, win32 } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Always absolute. Empty or relative means unset: it would be in the current directory, and a project that ships
 * `.config/turnbuckle/mcp.json` could pose as its user.
 */
export function homeDirectory(environment: Environment): string {
  const { platform } = process;
  return (
    absoluteOrUndefined(environment.HOME, platform) ??
    (platform === 'win32' ? absoluteOrUndefined(environment.USERPROFILE, platform) : undefined) ??
    absoluteOrUndefined(undefinedIfThrows(homedir), platform) ??
    absoluteOrUndefined(
      undefinedIfThrows(() => userInfo().homedir),
      platform,
    ) ??
    // There is no home directory. The root is at least not a project.
    parse(process.cwd()).root
  );
}

/** Undefined for a relative path, which would mean something else in every directory. */
export function absoluteOrUndefined(path: string | undefined, platform: NodeJS.Platform): string | undefined {
  const { isAbsolute } = platform === 'win32' ? win32 : posix;
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** The system has no entry for a user that was never set up, as in some containers. */
function undefinedIfThrows(ask: () => string): string | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
