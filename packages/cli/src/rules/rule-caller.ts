/** Whom a rule is for: a caller that there is not, or that is called otherwise, makes a rule that never holds. */
import { OWNER, readTokenNames } from '@turnbuckle/gateway';
import { type Rule, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { nearestWord } from './nearest-word.js';
import { stateDirectoryOf } from './state-directory-of.js';
import { showLine } from './untrusted-text.js';

/** Words of rules that are no names of tokens: you, and everybody else. */
const WORDS: readonly string[] = ['host', 'agents'];

/** Throws for the name of the owner's token: no call is decided by it. */
export function refuseOwner(caller: string, hint: string): void {
  if (caller !== OWNER) return;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `"${OWNER}" is the name of your own token; in rules you are called "host".`,
    { hint },
  );
}

/** What is odd about the callers of a rule, a sentence each; empty when nothing is known to be. */
export function doubtsAbout({ caller }: Rule, tokens: readonly string[] | undefined): string[] {
  return [caller ?? []].flat().flatMap((name) => {
    if (name === OWNER) return [`"${OWNER}" is your own token: in rules you are called "host".`];
    // Others than tokens have a colon in their names: jwt:…, stdio:….
    if (tokens === undefined || /[*?\\:]/.test(name) || [...WORDS, ...tokens].includes(name)) return [];
    const close = nearestWord(name, [...WORDS, ...tokens.filter((one) => one !== OWNER)]);
    const meant = close === undefined ? 'turnbuckle token list shows them.' : `Did you mean "${close}"?`;
    return [`No token is named "${showLine(name, 60)}" now. ${meant}`];
  });
}

/** Undefined when they cannot be read: then nothing is said about them. */
export function knownTokens(context: CommandContext): readonly string[] | undefined {
  try {
    return readTokenNames(stateDirectoryOf(context));
  } catch {
    return undefined;
  }
}
