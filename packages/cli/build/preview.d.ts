import type { CommandContext } from './command.js';
/** True when the change may be made: asked for on a terminal, by --yes elsewhere. */
export declare function confirmChange(
  { output, flags }: CommandContext,
  change: {
    file: string;
    before: string;
    after: string;
  },
): Promise<boolean>;
