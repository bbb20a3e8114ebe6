import type { CommandContext } from '../command.js';
export declare const run: (context: CommandContext) => Promise<void>;
