/**
 * Every failure is a TurnbuckleError with a code from one closed table. Foreign errors are translated at the edge of
 * the connection (connection/lanes/translate-error.ts), never here and never by their text.
 */

interface ErrorFacts {
  /** HTTP status in the daemon. */
  readonly http: number;
  /** Code of a JSON-RPC error response. */
  readonly rpc: number;
  /** Exit code of the command line. */
  readonly exit: number;
  /** True if the same request may succeed later without any change. */
  readonly retryable: boolean;
}

// biome-ignore lint/complexity/useMaxParams: the columns of the table below.
const facts = (http: number, rpc: number, exit: number, retryable = false): ErrorFacts => ({
  http,
  rpc,
  exit,
  retryable,
});

/** The closed table. `docs/errors.md` has a heading for each code; a test keeps the two in sync. */
export const ERRORS = {
  CONFIG_INVALID: facts(400, -32602, 10),
  VARIABLE_MISSING: facts(400, -32602, 10),
  TRUST_REQUIRED: facts(403, -32003, 15),
  SERVER_UNKNOWN: facts(404, -32602, 11),
  SERVER_DISABLED: facts(409, -32001, 11),
  SERVER_LIMIT: facts(409, -32001, 10),
  TOOL_UNKNOWN: facts(404, -32602, 12),
  RESOURCE_UNKNOWN: facts(404, -32602, 12),
  PROMPT_UNKNOWN: facts(404, -32602, 12),
  NAME_TAKEN: facts(409, -32602, 12),
  ARGUMENTS_INVALID: facts(422, -32602, 13),
  TOOL_FAILED: facts(200, -32001, 1),
  RESULT_INVALID: facts(502, -32603, 14),
  SCHEMA_UNUSABLE: facts(502, -32603, 14),
  CALL_DENIED: facts(403, -32003, 15),
  APPROVAL_NEEDED: facts(403, -32003, 15),
  APPROVAL_PENDING: facts(409, -32003, 15, true),
  AUTH_REQUIRED: facts(401, -32003, 16),
  AUTH_FAILED: facts(401, -32003, 16),
  SCOPE_MISSING: facts(403, -32003, 16),
  SECRETS_UNAVAILABLE: facts(500, -32001, 24),
  FETCH_REFUSED: facts(502, -32001, 25),
  SANDBOX_UNAVAILABLE: facts(502, -32001, 26),
  GATEWAY_LOOP: facts(508, -32001, 17),
  COMMAND_NOT_FOUND: facts(502, -32001, 17),
  CONNECT_FAILED: facts(502, -32001, 17, true),
  CONNECT_TIMEOUT: facts(504, -32001, 17, true),
  SERVER_EXITED: facts(502, -32001, 17, true),
  CONNECTION_LOST: facts(502, -32001, 17, true),
  SERVER_FLOODED: facts(502, -32001, 17),
  BREAKER_OPEN: facts(503, -32001, 17, true),
  OVERLOADED: facts(503, -32001, 18, true),
  RATE_LIMITED: facts(429, -32001, 18, true),
  BUDGET_EXCEEDED: facts(429, -32001, 18, true),
  CALL_TIMEOUT: facts(504, -32001, 19),
  CALL_CANCELLED: facts(499, -32800, 20),
  CALL_OUTCOME_UNKNOWN: facts(502, -32001, 21),
  RESPONSE_TOO_LARGE: facts(502, -32603, 14),
  PROTOCOL_VIOLATION: facts(502, -32603, 14),
  SERVER_ERROR: facts(502, -32603, 14),
  INPUT_REQUIRED: facts(409, -32001, 22),
  RUNTIME_CLOSED: facts(503, -32001, 23),
  TOKEN_REQUIRED: facts(401, -32003, 27),
  ACCESS_DENIED: facts(403, -32003, 27),
  HOST_REFUSED: facts(421, -32003, 27),
  ORIGIN_REFUSED: facts(403, -32003, 27),
  PATH_UNKNOWN: facts(404, -32601, 28),
  METHOD_REFUSED: facts(405, -32601, 28),
  CONTENT_TYPE_REFUSED: facts(415, -32600, 28),
  REQUEST_INVALID: facts(400, -32600, 28),
  REQUEST_TOO_LARGE: facts(413, -32600, 28),
  HEADERS_TOO_LARGE: facts(431, -32600, 28),
  REQUEST_TIMEOUT: facts(408, -32001, 28, true),
  DAEMON_RUNNING: facts(409, -32001, 29),
  LISTEN_FAILED: facts(500, -32001, 29),
  INTERNAL: facts(500, -32603, 70),
} as const satisfies Record<string, ErrorFacts>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  readonly hint?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly cause?: unknown;
  /** Details for programs: the JSON-RPC error of the server, an HTTP status, a key path and value. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** The only error class. `message` says what happened to which server or tool, `hint` what to do next. */
export class TurnbuckleError extends Error {
  override readonly name = 'TurnbuckleError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly server: string | undefined;
  readonly tool: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly time: Date = new Date();

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.server = details.server;
    this.tool = details.tool;
    this.data = details.data;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  /** The same error with the tool (and server) of a call, if it has none. */
  during(call: { readonly server: string; readonly tool: string }): TurnbuckleError {
    if (this.tool !== undefined && this.server !== undefined) return this;
    return new TurnbuckleError(this.code, this.message, {
      hint: this.hint,
      server: this.server ?? call.server,
      tool: this.tool ?? call.tool,
      cause: this.cause,
      data: this.data,
    });
  }

  toJSON(): Record<string, unknown> {
    const { code, message, hint, server, tool, data } = this;
    return { code, message, hint, server, tool, data, time: this.time.toISOString() };
  }
}

/** The hint of an error that only the authors of a server can correct. */
export const SERVER_BUG_HINT = "This is a bug in the server. Report it to the server's authors.";

/** The `code` of an error of Node or of ours, such as ENOENT; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Anything thrown as a TurnbuckleError; any other error is a bug in Turnbuckle. */
export function toTurnbuckleError(thrown: unknown): TurnbuckleError {
  if (thrown instanceof TurnbuckleError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new TurnbuckleError('INTERNAL', `Internal error: ${text}`, {
    cause: thrown,
    hint: 'This is a bug in Turnbuckle. Please report it and include the cause of this error.',
  });
}
