import { type Caller, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';

/** The agent that a command line speaks for, by the flag that names it; undefined: nobody but its user. */
export function callerOf({ flags }: CommandContext, flag: 'as' | 'caller'): Caller | undefined {
  const id = flags[flag];
  const capabilities = flags.can as readonly string[] | undefined;
  if (typeof id === 'string' && id.trim() !== '')
    return { id, capabilities: capabilities ?? ['mcp_integration'] };
  if (id === undefined && capabilities === undefined) return undefined;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--can says what an agent may know, and none is named.`, {
    hint: `Name one: --${flag} <id>`,
  });
}
