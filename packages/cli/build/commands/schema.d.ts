import type { CommandContext } from '../command.js';
export declare function run({ output }: CommandContext): Promise<void>;
