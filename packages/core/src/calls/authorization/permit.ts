import type { PinFault } from './policy/decide.js';

/** What a yes for one call holds for: this definition, and these reasons to ask. */
export interface Permit {
  readonly hash: string | null;
  /** The rules that asked: a mark of each, as it is written. */
  readonly asking: readonly string[];
  readonly pin: PinFault | undefined;
  readonly flow: boolean;
}
