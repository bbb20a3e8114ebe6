import type { Output } from './output.js';
export declare function reportError(
  thrown: unknown,
  output: Output,
  {
    verbose,
  }: {
    readonly verbose: boolean;
  },
): number;
