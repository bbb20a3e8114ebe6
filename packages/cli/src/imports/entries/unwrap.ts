/**
 * Takes off programs that only carry a remote server over standard input and output: the server itself is
 * reached directly. Whatever is not fully understood stays as it is.
 */
import type { ServerDraft } from './imported-server.js';
import { launchedProgram, withoutShell } from './launched-program.js';
import { remoteBehind, WRAPPERS } from './wrappers.js';

export interface Unwrapped {
  readonly config: ServerDraft;
  readonly notes: readonly string[];
}

/** The same server without its wrapper, and a note that says so. */
export function unwrap(config: ServerDraft): Unwrapped {
  if (config.type !== 'stdio' || config.command === undefined) return { config, notes: [] };
  const program = launchedProgram(config.command, config.args ?? []);
  if (WRAPPERS.has(program.name)) {
    const remote = remoteBehind(program, config.env ?? {});
    if (remote !== undefined) return { config: { ...kept(config), ...remote.config }, notes: remote.notes };
    const note = `starts ${program.name}, which carries a remote server; its options are not all understood, so it stays`;
    return { config, notes: [note] };
  }
  const [command, args] = withoutShell(config.command, config.args ?? []);
  if (command === config.command) return { config, notes: [] };
  const { args: _, ...rest } = config;
  return {
    config: { ...rest, command, ...(args.length === 0 ? {} : { args }) },
    notes: [`"cmd /c" is taken off: ${command} is started directly on every platform`],
  };
}

/** What has a meaning for a remote server too. */
function kept({
  description,
  enabled,
  connectTimeoutMs,
  callTimeoutMs,
  includeTools,
  excludeTools,
}: ServerDraft) {
  return {
    ...(description === undefined ? {} : { description }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
    ...(includeTools === undefined ? {} : { includeTools }),
    ...(excludeTools === undefined ? {} : { excludeTools }),
  };
}
