import type { PinFault } from '../../policy/decide.js';

/** What an approval of one call covers: this definition and these reasons. */
export interface Permit {
  readonly hash: string | null;
  /** The rules that asked, as hashes. */
  readonly asking: readonly string[];
  readonly pin: PinFault | undefined;
  readonly flow: boolean;
}
