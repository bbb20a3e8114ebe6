/** Help, made from the command table: the same text on the terminal and in the reference page. */
import { type Command } from './command.js';
export declare function helpForAll(commands: readonly Command[]): string;
export declare function helpFor({
  name,
  aliases,
  arguments: args,
  summary,
  description,
  options,
  examples,
}: Command): string;
