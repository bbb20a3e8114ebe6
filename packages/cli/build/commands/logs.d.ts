import type { CommandContext } from '../command.js';
export declare function run(context: CommandContext): Promise<void>;
