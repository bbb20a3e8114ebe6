/** What the log and its thread say to each other. */
import type { LogFilter } from './queries.js';
import type { Retention } from './retention.js';

export interface WorkerData {
  readonly file: string;
  readonly journal: string;
  readonly retention: Retention;
  /** One number: 1 when the thread has been woken and has not looked yet. */
  readonly wake: SharedArrayBuffer;
}

export interface ServerRecord {
  readonly name: string;
  /** Redacted JSON. */
  readonly config: string;
  readonly enabled: boolean;
  readonly at: number;
  readonly removed: boolean;
  readonly tools?: number | undefined;
  /** What its list of tools costs a model, in tokens, about. */
  readonly toolTokens?: number | undefined;
}

export type Ask =
  | { readonly ask: 'find'; readonly filter: LogFilter }
  | { readonly ask: 'get'; readonly id: string }
  | { readonly ask: 'tools' | 'servers'; readonly since: number }
  | { readonly ask: 'over-time'; readonly since: number; readonly spanMs: number }
  | ({ readonly ask: 'server' } & ServerRecord)
  | { readonly ask: 'known-servers' | 'flush' | 'close' };

export type Question = Ask & { readonly number: number };

export interface Answer {
  readonly number: number;
  readonly value?: unknown;
  readonly error?: string;
}
