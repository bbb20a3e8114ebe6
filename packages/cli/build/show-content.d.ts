import type { Output } from './output.js';
export interface ShowOptions {
  readonly output: Output;
  /** Where files go. */
  readonly directory: string;
  /** What they are named after. */
  readonly stem: string;
}
type Part = Readonly<Record<string, unknown>>;
export declare function showContent(parts: readonly Part[], options: ShowOptions): Promise<void>;
/** The contents of a resource: text, or a file. */
export declare function showResource(contents: Part, number: number, options: ShowOptions): Promise<void>;
