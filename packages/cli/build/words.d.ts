import type { CommandContext } from './command.js';
export declare function needWord({ words }: CommandContext, index: number, name: string): string;
/** `key=value` pairs as texts. */
export declare function readPairs(words: readonly string[]): Record<string, string>;
