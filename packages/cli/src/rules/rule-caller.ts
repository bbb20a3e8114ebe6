/** Checks the caller of a rule: a rule for an unknown caller never matches. */
import { OWNER, readTokenNames } from '@turnbuckle/gateway';
import { type Rule, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { showLine } from '../terminal/untrusted-text.js';

/** Callers in rules that are not token names: you, and everyone else. */
const RESERVED_CALLERS: readonly string[] = ['host', 'agents'];

/** Throws for the name of the owner's token: no call is decided by it. */
export function rejectOwner(caller: string, hint: string): void {
  if (caller !== OWNER) return;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `The name "${OWNER}" is reserved for your own token. In a rule, use "host" for your own calls.`,
    {
      hint,
    },
  );
}

/** What is odd about the callers of a rule, a sentence each; empty when nothing is known to be. */
export function callerWarnings({ caller }: Rule, tokens: readonly string[] | undefined): string[] {
  return [caller ?? []].flat().flatMap((name) => {
    if (name === OWNER)
      return [
        `The name "${OWNER}" is reserved for your own token. In a rule, use "host" for your own calls.`,
      ];
    // Others than tokens have a colon in their names: jwt:…, stdio:….
    if (tokens === undefined || /[*?\\:]/.test(name) || [...RESERVED_CALLERS, ...tokens].includes(name))
      return [];
    const close = nearestWord(name, [...RESERVED_CALLERS, ...tokens.filter((one) => one !== OWNER)]);
    const meant = close === undefined ? 'List the tokens: turnbuckle token list' : `Did you mean "${close}"?`;
    return [`No token is named "${showLine(name, 60)}". ${meant}`];
  });
}

/** Undefined when they cannot be read. */
export function knownTokens(context: CommandContext): readonly string[] | undefined {
  try {
    return readTokenNames(stateDirectoryOf(context));
  } catch {
    return undefined;
  }
}
