/**
 * Decides whether a failed attempt may be repeated: yes if nothing reached the tool, or if a trusted server declares
 * that repeating is harmless. Otherwise the outcome is unknown, and the caller gets exactly that.
 */
import type { ErrorCode } from '../errors.js';

export interface Failure {
  readonly code: ErrorCode;
  /** undefined: not a question of delivery. */
  readonly sent: boolean | undefined;
  readonly retryAfterMs: number | undefined;
  /** The server reported that headers and body disagree: our definition of the tool is outdated. */
  readonly headerMismatch: boolean;
}

export interface RetryContext {
  /** Repeating it does no harm, according to a trusted server. */
  readonly safe: boolean;
  readonly attempt: number;
  readonly leftMs: number;
}

export type RetryPlan =
  | { readonly kind: 'retry'; readonly delayMs: number; readonly relist: boolean }
  | { readonly kind: 'give-up' }
  | { readonly kind: 'outcome-unknown' };

const MAX_ATTEMPTS = 3;
const MAX_WAIT_MS = 30_000;
const DEFAULT_RATE_LIMIT_DELAY_MS = 1_000;

const GIVE_UP: RetryPlan = { kind: 'give-up' };
const RETRY_NOW: RetryPlan = { kind: 'retry', delayMs: 0, relist: false };

export function retryPlan(failure: Failure, { safe, attempt, leftMs }: RetryContext): RetryPlan {
  const again = attempt < MAX_ATTEMPTS;
  if (failure.headerMismatch) return attempt === 1 ? { kind: 'retry', delayMs: 0, relist: true } : GIVE_UP;
  if (failure.code === 'RATE_LIMITED') {
    const delayMs = failure.retryAfterMs ?? DEFAULT_RATE_LIMIT_DELAY_MS * attempt;
    return again && delayMs <= Math.min(leftMs, MAX_WAIT_MS)
      ? { kind: 'retry', delayMs, relist: false }
      : GIVE_UP;
  }
  if (failure.code !== 'CONNECTION_LOST') return GIVE_UP;
  if (failure.sent === false) return again ? RETRY_NOW : GIVE_UP;
  if (!safe) return { kind: 'outcome-unknown' };
  return again ? RETRY_NOW : GIVE_UP;
}
