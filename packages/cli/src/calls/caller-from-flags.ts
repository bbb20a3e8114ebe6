import { type Caller, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';

/** The agent named by the flag; undefined: the user. */
export function callerFromFlags({ flags }: CommandContext, flag: 'as' | 'caller'): Caller | undefined {
  const id = flags[flag];
  const capabilities = flags.capability as readonly string[] | undefined;
  if (typeof id === 'string' && id.trim() !== '')
    return { id, capabilities: capabilities ?? ['mcp_integration'] };
  if (id === undefined && capabilities === undefined) return undefined;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--capability requires --${flag}.`, {
    hint: `Specify the agent: --${flag} <id>`,
  });
}
