/** Failures of a model server as TurnbuckleErrors, by status and kind, never by their text. */
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';

export interface FailedStep {
  readonly error: unknown;
  /** Where the model is, for messages. */
  readonly place: string;
  readonly status: number | undefined;
  readonly isTimeout: boolean;
}

const HINTS: Partial<Record<ErrorCode, string>> = {
  AUTH_FAILED: 'Check apiKey in the agent settings of your config file.',
  RATE_LIMITED: 'The agent tries again later. Reduce its effort with the energy settings.',
  CALL_TIMEOUT: 'Use a faster model, or increase modelTimeoutSeconds in the agent settings.',
  REQUEST_INVALID: 'Check model and baseUrl in the agent settings: the model must support tools.',
  CONNECT_FAILED: 'Check that the model server is running, and baseUrl in the agent settings.',
};

export function toModelError({ error, place, status, isTimeout }: FailedStep): TurnbuckleError {
  const known = findOwn(error);
  if (known !== undefined) return known;
  const code = isTimeout ? 'CALL_TIMEOUT' : codeOf(status);
  const what = isTimeout
    ? 'took too long to respond'
    : status === undefined
      ? 'cannot be reached'
      : `responded with HTTP status ${status}`;
  return new TurnbuckleError(code, `The model server at ${place} ${what}.`, {
    hint: HINTS[code],
    cause: error,
    data: { status },
  });
}

function codeOf(status: number | undefined): ErrorCode {
  if (status === undefined || status >= 500) return 'CONNECT_FAILED';
  if (status === 401 || status === 403) return 'AUTH_FAILED';
  if (status === 429) return 'RATE_LIMITED';
  // A body that is not what the wire promises.
  if (status < 400) return 'RESULT_INVALID';
  return 'REQUEST_INVALID';
}

/** Libraries wrap what their fetch throws. */
function findOwn(error: unknown, depth = 0): TurnbuckleError | undefined {
  if (error instanceof TurnbuckleError) return error;
  return depth < 5 && error instanceof Error ? findOwn(error.cause, depth + 1) : undefined;
}
