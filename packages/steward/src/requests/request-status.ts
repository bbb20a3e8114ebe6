/** What is known of a request while it waits, runs and after it has ended, and what the steward reports about it. */
import type { ErrorCode } from 'turnbuckle';
import type { Priority, RequestKind } from './request.js';

export const REQUEST_STATES = ['queued', 'in_progress', 'completed', 'failed', 'cancelled'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

export interface RequestError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

export interface RequestStatus {
  readonly requestId: string;
  readonly type: RequestKind;
  readonly state: RequestState;
  /** From 0 to 100. */
  readonly progress: number;
  readonly message: string;
  /** In units of energy. */
  readonly energyConsumed: number;
  readonly result?: unknown;
  readonly error?: RequestError;
  readonly waitingFor?: 'approval';
  readonly priority: Priority;
  readonly timestamp: string;
  readonly requestedBy?: string;
}

export const MESSAGE_TYPES = ['status_update', 'completion', 'error', 'tool_available'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

export interface StewardMessage {
  /** Grows with each message; never given twice. */
  readonly number: number;
  readonly type: MessageType;
  readonly requestId: string;
  readonly data: unknown;
  readonly at: string;
}
