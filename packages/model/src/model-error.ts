/** Failures of a model server as TurnbuckleErrors, by status and kind, never by their text. */
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';

export interface FailedStep {
  readonly error: unknown;
  /** Where its settings are, such as `agent.model`. */
  readonly key: string;
  /** Where the model is, for messages. */
  readonly place: string;
  readonly status: number | undefined;
  readonly isTimeout: boolean;
}

const HINTS: Partial<Record<ErrorCode, (key: string) => string>> = {
  AUTH_FAILED: (key) => `Check ${key}.apiKey in your config file.`,
  RATE_LIMITED: () => 'Try again later, or use a model with a higher rate limit.',
  CALL_TIMEOUT: (key) =>
    `Use a faster model${key === 'agent.model' ? ', or increase agent.modelTimeoutSeconds' : ''}.`,
  REQUEST_INVALID: (key) => `Check ${key}.model and ${key}.baseUrl: the model must support tools.`,
  RESULT_INVALID: (key) => `Check that ${key}.baseUrl in your config file is the address of a model server.`,
  CONNECT_FAILED: (key) => `Check that the model server is running, and ${key}.baseUrl in your config file.`,
};

export function toModelError({ error, key, place, status, isTimeout }: FailedStep): TurnbuckleError {
  const known = findOwn(error);
  if (known !== undefined) return known;
  const code = isTimeout ? 'CALL_TIMEOUT' : codeOf(status);
  const what = isTimeout ? 'took too long to respond' : describeStatus(status);
  return new TurnbuckleError(code, `The model server at ${place} ${what}.`, {
    hint: HINTS[code]?.(key),
    cause: error,
    data: { status },
  });
}

function describeStatus(status: number | undefined): string {
  if (status === undefined) return 'cannot be reached';
  return status < 300 ? 'gave a response that is not valid' : `responded with HTTP status ${status}`;
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
