/** Which program a command line really starts, once shells and package runners are taken off. */
export interface LaunchedProgram {
  /** The package or program, without its version. */
  readonly name: string;
  readonly args: readonly string[];
}
/** Takes off `cmd /c`, which only Windows needs, and only for scripts such as npx. */
export declare function withoutShell(
  command: string,
  args: readonly string[],
): readonly [string, readonly string[]];
/** The program behind a runner such as npx or uvx, or the command itself. */
export declare function launchedProgram(command: string, args: readonly string[]): LaunchedProgram;
