/** An error response as plain data: many are made under attack, so they have to be cheap. */
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';
import { type SafeData, toSafeData } from './safe-data.js';

export interface ErrorResponse {
  readonly code: ErrorCode;
  readonly error: string;
  readonly hint?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  /** Details for programs, such as which key of the body is invalid. */
  readonly data?: SafeData | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** For anything that a route threw. Messages of foreign errors are not sent: they may contain paths and other internals. */
export function toErrorResponse(thrown: unknown): ErrorResponse {
  if (!(thrown instanceof TurnbuckleError)) {
    return {
      code: 'INTERNAL',
      error: 'Internal error in Turnbuckle.',
      hint: 'This is a bug. Please report it with the details from the daemon log.',
    };
  }
  const { code, message, hint, server, tool, data } = thrown;
  return { code, error: message, hint, server, tool, data: toSafeData(data) };
}

/** For an exceeded rate, with the time after which to try again. */
export function rateLimited(error: string, waitMs: number): ErrorResponse {
  const seconds = Math.max(Math.ceil(waitMs / 1_000), 1);
  return { code: 'RATE_LIMITED', error, hint: `Try again in ${seconds} s.`, data: { retryAfterMs: waitMs } };
}
