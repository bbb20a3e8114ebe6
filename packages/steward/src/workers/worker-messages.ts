/** Messages between the pool and its worker processes. */
import type { RequestKind } from '../requests/request.js';

export interface WorkerSettings {
  /** The owner of the requests that it claims. */
  readonly id: string;
  /** The file of the database. */
  readonly database: string;
  readonly kinds: readonly RequestKind[];
  readonly leaseMs: number;
  /** The address of a module that exports a `StepModule`. */
  readonly steps: string;
  /** For the steps. */
  readonly settings: unknown;
}

/** `wake`: look at the database now. `end`: give back the request and exit. */
export type WorkerMessage =
  | { readonly type: 'settings'; readonly settings: WorkerSettings }
  | { readonly type: 'wake' }
  | { readonly type: 'end' };

/** How often a worker sends a sign of life, which is any message. */
export const ALIVE_MS = 500;
