/** What takes long with large arguments is done in slices before they are decided about, for the decision to find it done. */
import { type Beside, ownWords } from './call-request.js';
import { exactNumbers } from './json/exact-number.js';
import { wideMembers } from './json/wide-objects.js';
import { hasMoreParts } from './json/write-large.js';
import { FEW_PARTS, type Redactor } from './observe/redact.js';
import type { SecretSearch } from './policy/rules.js';

type Arguments = Readonly<Record<string, unknown>>;

export interface Searched {
  readonly arguments: Arguments;
  /** What else goes to the server with them. */
  readonly beside: Beside | undefined;
  /** Asked before anything that takes long. */
  readonly isWanted: () => boolean;
  /** A rule asks for what looks like a secret. */
  readonly isAboutSecrets: () => boolean;
}

export class ArgumentSearch {
  /** As the redactor knows and finds them; of large arguments, what was found before. */
  readonly secrets: SecretSearch;
  readonly #redactor: Pick<Redactor, 'large'>;
  readonly #known = new WeakMap<object, boolean>();
  readonly #found = new WeakMap<object, boolean>();

  constructor(redactor: Pick<Redactor, 'knows' | 'finds' | 'large'>) {
    this.#redactor = redactor;
    const knows = (given: object): boolean => this.#known.get(given) ?? redactor.knows(given);
    const finds = (given: object, looked = given): boolean =>
      (this.#found.get(given) ?? redactor.finds(looked)) || knows(given);
    this.secrets = {
      knows: ({ arguments: args, beside }) =>
        (args !== undefined && knows(args)) || (beside !== undefined && knows(beside)),
      finds: ({ arguments: args, beside }) =>
        (args !== undefined && finds(args)) || (beside !== undefined && finds(beside, ownWords(beside))),
    };
  }

  /** The same arguments with every number as it is sent; a promise where that, or the search, would hold up others. */
  exactly(what: Searched): Promise<Arguments> | Arguments {
    const exact = exactNumbers(what.arguments, what.isWanted);
    if (exact instanceof Promise) return exact.then((args) => this.#search(args, what));
    const isLarge = hasMoreParts(exact, FEW_PARTS) || hasMoreParts(what.beside, FEW_PARTS);
    return isLarge && what.isWanted() ? this.#search(exact, what) : exact;
  }

  async #search(
    exact: Arguments,
    { arguments: given, beside, isAboutSecrets }: Searched,
  ): Promise<Arguments> {
    const { large } = this.#redactor;
    // What was found holds for this call alone: a program may fill the same object with something else for the next one.
    const args = exact === given && wideMembers(exact) === undefined ? { ...exact } : exact;
    this.#known.set(args, await large.knows(args));
    if (beside !== undefined) this.#known.set(beside, await large.knows(beside));
    if (!isAboutSecrets()) return args;
    this.#found.set(args, await large.finds(args));
    if (beside !== undefined) this.#found.set(beside, await large.finds(ownWords(beside)));
    return args;
  }
}
