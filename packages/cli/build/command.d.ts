/** What a command is: data for help, completion and the reference page, and the code behind it on demand. */
export interface OptionSpec {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  readonly multiple?: boolean;
  /** How the value is called in help. */
  readonly value?: string;
  readonly summary: string;
}
export interface Example {
  readonly line: string;
  readonly what: string;
}
export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Its arguments, as they are written in help: `<server> [tool]`. */
  readonly arguments: string;
  readonly summary: string;
  /** More than one sentence, where one does not do. */
  readonly description?: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly examples: readonly Example[];
  readonly load: () => Promise<{
    readonly run: RunCommand;
  }>;
}
export type RunCommand = (context: CommandContext) => Promise<number | undefined> | Promise<void>;
export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
/** What a command gets: its words and flags, a way to print, and the moment to stop. */
export interface CommandContext {
  readonly words: readonly string[];
  readonly flags: Flags;
  readonly output: import('./output.js').Output;
  /** Ends with Ctrl-C. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
}
/** Options that every command takes. */
export declare const GLOBAL_OPTIONS: Readonly<Record<string, OptionSpec>>;
