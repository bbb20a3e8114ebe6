/** Messages between the log and its thread. */

import type { Durability } from './journal.js';
import type { AnalyticsOrder, LogFilter, SpanFilter, Visible } from './queries/call-queries.js';
import type { IncidentFilter } from './queries/incident-queries.js';
import type { Retention } from './retention.js';

export interface WorkerData {
  readonly file: string;
  readonly journal: string;
  readonly durability: Durability;
  readonly retention: Retention;
  /** One number: 1 if the thread was woken and has not looked yet. */
  readonly wake: SharedArrayBuffer;
}

export type LogQuery =
  | { readonly ask: 'find'; readonly filter: LogFilter }
  | { readonly ask: 'get'; readonly id: string }
  | { readonly ask: 'incidents'; readonly incidents: IncidentFilter }
  | {
      readonly ask: 'tools';
      readonly since: number;
      readonly order: AnalyticsOrder;
      readonly visible: Visible;
    }
  | { readonly ask: 'servers'; readonly since: number; readonly visible: Visible }
  | { readonly ask: 'unused' | 'energy-spans' | 'energy-totals'; readonly since: number }
  | ({ readonly ask: 'over-time'; readonly since: number; readonly spanMs: number } & SpanFilter)
  | { readonly ask: 'known-servers' | 'names' | 'energy-samples' | 'flush' | 'close' };

export type LogRequest = LogQuery & { readonly number: number };

export interface LogResponse {
  readonly number: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** Ingesting failed; it is tried again. */
export interface IngestFailure {
  readonly trouble: string;
}
