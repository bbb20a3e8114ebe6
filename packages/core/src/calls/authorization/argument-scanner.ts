/** Scans large arguments in slices ahead of the decision, so that the decision finds the results ready. */

import { exactNumbers } from '../../json/exact-number.js';
import { wideMemberCount } from '../../json/wide-objects.js';
import { hasMorePartsThan } from '../../json/write-large.js';
import type { SecretSearch } from '../../policy/rules.js';
import { MAX_SYNC_PARTS, type Redactor } from '../../redaction/redactor.js';
import { type RequestExtras, withoutRequestState } from '../call-request.js';

type Arguments = Readonly<Record<string, unknown>>;

export interface ArgumentsToScan {
  readonly arguments: Arguments;
  /** What else is sent to the server. */
  readonly extras: RequestExtras | undefined;
  /** Checked before anything slow. */
  readonly isWanted: () => boolean;
  /** Whether a rule depends on secrets in the arguments. */
  readonly needsSecretScan: () => boolean;
}

export class ArgumentScanner {
  /** Known and suspected secrets; for large arguments, the precomputed matches. */
  readonly secrets: SecretSearch;
  readonly #redactor: Pick<Redactor, 'large'>;
  readonly #hasKnownSecret = new WeakMap<object, boolean>();
  readonly #hasLikelySecret = new WeakMap<object, boolean>();

  constructor(redactor: Pick<Redactor, 'knows' | 'finds' | 'large'>) {
    this.#redactor = redactor;
    const knows = (given: object): boolean => this.#hasKnownSecret.get(given) ?? redactor.knows(given);
    const finds = (given: object, looked = given): boolean =>
      (this.#hasLikelySecret.get(given) ?? redactor.finds(looked)) || knows(given);
    this.secrets = {
      knows: ({ arguments: args, otherValues }) =>
        (args !== undefined && knows(args)) || (otherValues !== undefined && knows(otherValues)),
      finds: ({ arguments: args, otherValues }) =>
        (args !== undefined && finds(args)) ||
        (otherValues !== undefined && finds(otherValues, withoutRequestState(otherValues))),
    };
  }

  /** The arguments with exact numbers; a promise if that or the scan would block the event loop. */
  prepare(what: ArgumentsToScan): Promise<Arguments> | Arguments {
    const exact = exactNumbers(what.arguments, what.isWanted);
    if (exact instanceof Promise) return exact.then((args) => this.#scan(args, what));
    const isLarge = hasMorePartsThan(exact, MAX_SYNC_PARTS) || hasMorePartsThan(what.extras, MAX_SYNC_PARTS);
    return isLarge && what.isWanted() ? this.#scan(exact, what) : exact;
  }

  async #scan(
    exact: Arguments,
    { arguments: given, extras, needsSecretScan }: ArgumentsToScan,
  ): Promise<Arguments> {
    const { large } = this.#redactor;
    // Results hold for this call only: the program may reuse the same object with other content.
    const args = exact === given && wideMemberCount(exact) === undefined ? { ...exact } : exact;
    this.#hasKnownSecret.set(args, await large.knows(args));
    if (extras !== undefined) this.#hasKnownSecret.set(extras, await large.knows(extras));
    if (!needsSecretScan()) return args;
    this.#hasLikelySecret.set(args, await large.finds(args));
    if (extras !== undefined)
      this.#hasLikelySecret.set(extras, await large.finds(withoutRequestState(extras)));
    return args;
  }
}
