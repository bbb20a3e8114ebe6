import type { CommandContext } from './command.js';

interface Change {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}
/** The file's text now, or nothing. */
export declare const currentText: (file: string) => Promise<string>;
export declare function rememberChange(context: CommandContext, what: string, change: Change): Promise<void>;
/** Puts the file back as it was; refuses when somebody changed it since. Answers which file it was. */
export declare function undoChange(context: CommandContext, what: string): Promise<string>;
