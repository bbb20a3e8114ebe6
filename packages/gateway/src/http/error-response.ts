/** Why a request gets no answer, as data: many are made under attack, so they must cost nothing. */
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';
import { type SafeData, toSafeData } from './safe-data.js';

export interface Refusal {
  readonly code: ErrorCode;
  readonly error: string;
  readonly hint?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  /** Facts for programs, such as what is wrong with which key of the body. */
  readonly data?: SafeData | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a route threw. The text of what is not ours stays inside: nobody outside learns of paths and the like. */
export function toRefusal(thrown: unknown): Refusal {
  if (!(thrown instanceof TurnbuckleError)) {
    return {
      code: 'INTERNAL',
      error: 'Unexpected failure inside Turnbuckle.',
      hint: 'This is a defect. The log of the daemon has more.',
    };
  }
  const { code, message, hint, server, tool, data } = thrown;
  return { code, error: message, hint, server, tool, data: toSafeData(data) };
}

/** For too many of something, with the time after which there is room again. */
export function slowDown(error: string, waitMs: number): Refusal {
  const seconds = Math.max(Math.ceil(waitMs / 1_000), 1);
  return { code: 'RATE_LIMITED', error, hint: `Try again in ${seconds} s.`, data: { retryAfterMs: waitMs } };
}
