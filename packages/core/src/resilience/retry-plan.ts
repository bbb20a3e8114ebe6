/**
 * After a failed attempt: may it be made again? Yes when nothing reached the tool, or when doing it twice
 * is harmless by a word that is trusted; else the outcome is unknown and the caller is told exactly that.
 */
import type { ErrorCode } from '../errors.js';

export interface Failure {
  readonly code: ErrorCode;
  /** undefined: not a question of delivery. */
  readonly sent: boolean | undefined;
  readonly retryAfterMs: number | undefined;
  /** The server found that headers and body disagree: our knowledge of the tool is old. */
  readonly headerMismatch: boolean;
}

export interface RetryCircumstances {
  /** Repeating it does no harm, by a trusted word. */
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
const RATE_PAUSE_MS = 1_000;

const GIVE_UP: RetryPlan = { kind: 'give-up' };
const AT_ONCE: RetryPlan = { kind: 'retry', delayMs: 0, relist: false };

export function retryPlan(failure: Failure, { safe, attempt, leftMs }: RetryCircumstances): RetryPlan {
  const again = attempt < MAX_ATTEMPTS;
  if (failure.headerMismatch) return attempt === 1 ? { kind: 'retry', delayMs: 0, relist: true } : GIVE_UP;
  if (failure.code === 'RATE_LIMITED') {
    const delayMs = failure.retryAfterMs ?? RATE_PAUSE_MS * attempt;
    return again && delayMs <= Math.min(leftMs, MAX_WAIT_MS)
      ? { kind: 'retry', delayMs, relist: false }
      : GIVE_UP;
  }
  if (failure.code !== 'CONNECTION_LOST') return GIVE_UP;
  if (failure.sent === false) return again ? AT_ONCE : GIVE_UP;
  if (!safe) return { kind: 'outcome-unknown' };
  return again ? AT_ONCE : GIVE_UP;
}
