/**
 * Takes off programs that only carry a remote server over standard input and output: the server itself is
 * reached directly. Whatever is not fully understood stays as it is.
 */

import { launchedProgram, withoutShell } from '../launched-program.js';
import type { ServerDraft } from './imported-server.js';
import { unwrapRemote, WRAPPERS } from './wrappers.js';

export interface Unwrapped {
  readonly config: ServerDraft;
  readonly notes: readonly string[];
}

/** The same server without its wrapper, and a note that says so. */
export function unwrap(config: ServerDraft): Unwrapped {
  if (config.type !== 'stdio' || config.command === undefined) return { config, notes: [] };
  const program = launchedProgram(config.command, config.args ?? []);
  if (WRAPPERS.has(program.name)) {
    const remote = unwrapRemote(program, config.env ?? {});
    if (remote !== undefined)
      return {
        config: { ...transferableFields(config), ...remote.config },
        notes:
          config.sandbox === undefined
            ? remote.notes
            : [
                ...remote.notes,
                'the sandbox is removed because Turnbuckle connects to the remote server directly and no longer starts a local process',
              ],
      };
    const note = `starts ${program.name}, a proxy for a remote server; the proxy is kept because Turnbuckle does not know some of its options`;
    return { config, notes: [note] };
  }
  const [command, args] = withoutShell(config.command, config.args ?? []);
  if (command === config.command) return { config, notes: [] };
  const { args: _, ...rest } = config;
  return {
    config: { ...rest, command, ...(args.length === 0 ? {} : { args }) },
    notes: [`"cmd /c" is removed because Turnbuckle starts ${command} directly on every platform`],
  };
}

/** What has a meaning for a remote server too. */
function transferableFields({
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
