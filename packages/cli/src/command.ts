/** What a command is: data for help, completion and the reference page, and the code behind it on demand. */

export interface OptionSpec {
  readonly type: 'boolean' | 'string';
  readonly short?: string;
  readonly multiple?: boolean;
  /** How the value is called in help. */
  readonly value?: string;
  readonly summary: string;
  /** Its name in earlier releases: still accepted, with a warning, and left out of help. */
  readonly deprecatedName?: string;
}

export interface Example {
  readonly line: string;
  readonly what: string;
}

export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Its name in earlier releases: still accepted, with a warning, and left out of help. */
  readonly deprecatedName?: string;
  /** Its arguments, as they are written in help: `<server> [tool]`. */
  readonly arguments: string;
  readonly summary: string;
  /** More than one sentence, where one does not do. */
  readonly description?: string;
  /** Maximum number of positional arguments; absent: any number. */
  readonly maxPositionals?: number;
  /** A signal is how it is meant to end: then it ends with its own exit code. */
  readonly endsBySignal?: boolean;
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly examples: readonly Example[];
  readonly load: () => Promise<{ readonly run: RunCommand }>;
}

export type RunCommand = (context: CommandContext) => Promise<number | undefined> | Promise<void>;

export type Flags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** What a command receives: arguments and flags, the output, and a signal to stop. */
export interface CommandContext {
  readonly command: Command;
  readonly positionals: readonly string[];
  /** Which of them is the first behind a `--`; absent: none is. */
  readonly passthroughIndex?: number | undefined;
  /** The table of all commands, for those that speak about the others. */
  readonly commands: readonly Command[];
  readonly flags: Flags;
  readonly output: import('./terminal/output.js').Output;
  /** Ends with Ctrl-C. */
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Options that every command takes. */
export const GLOBAL_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  help: { type: 'boolean', short: 'h', summary: 'Show help for the command' },
  json: { type: 'boolean', summary: 'Print JSON, for programs' },
  config: {
    type: 'string',
    multiple: true,
    value: 'file',
    summary: 'Additional config file with the highest priority; can be repeated',
  },
  'mcp-server': {
    type: 'string',
    multiple: true,
    value: 'name=command|url',
    summary: 'Add a server for this run only, such as "name=npx -y pkg" or "name=https://…"',
  },
  'trust-project': { type: 'boolean', summary: "Trust the project's servers for this run (for CI)" },
  'no-daemon': { type: 'boolean', summary: 'Connect to servers directly, even if a daemon is running' },
  verbose: { type: 'boolean', short: 'v', summary: 'Print more details' },
};
