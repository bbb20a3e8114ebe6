/** The command table: everything that help, completion and the reference page know about a command. */
import type { Command } from './command.js';
export declare const COMMANDS: readonly Command[];
