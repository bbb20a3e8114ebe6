/** Messages between a client and the thread that runs its operations. */
export interface ThreadRequest {
  readonly number: number;
  readonly operation: string;
  readonly values: readonly unknown[];
}

export interface ThreadResponse {
  readonly number: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** Ends the thread. */
export const CLOSE = 'close';

/** What a thread offers: synchronous functions over its database. Arguments and results are structured clones. */
// biome-ignore lint/suspicious/noExplicitAny: the functions have parameters of their own; `never` would forbid to call them.
export type ThreadOperations = Readonly<Record<string, (...values: any[]) => unknown>>;
