/**
 * A lane carries requests to a server and brings back raw results. The express lane (channel-lane,
 * http-lane) writes JSON-RPC itself over the connection that the SDK negotiated; the SDK lane goes
 * through the SDK's client. Both keep the same contract, held by one suite.
 */

import type { CancelSignal } from '../cancel-signal.js';
import { keepSpelling } from '../json/spelling.js';
import type { Respondent } from './respondents.js';

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface LaneRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Longest silence; progress starts it anew. */
  readonly timeoutMs: number;
  /** Longest duration, whatever progress is reported. */
  readonly maxTotalMs: number;
  readonly signal?: CancelSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Who is asked and told what belongs to this request. */
  readonly respondent?: Respondent | undefined;
  /** Extra headers on transports that have them (`Mcp-Param-*`). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export type LaneResult = Record<string, unknown>;

export interface Lane {
  /** The result as the server wrote it; rejects with a TurnbuckleError in every other case. */
  request(request: LaneRequest): Promise<LaneResult>;
}

/** What every request of the 2026-07-28 revision carries in `_meta`. */
export interface Envelope {
  readonly 'io.modelcontextprotocol/protocolVersion': string;
  readonly 'io.modelcontextprotocol/clientInfo': Readonly<Record<string, unknown>>;
  readonly 'io.modelcontextprotocol/clientCapabilities': Readonly<Record<string, unknown>>;
}

/** Params with what the revision and the request's own options add to `_meta`; the caller's keys win. */
export function completeParams(
  request: LaneRequest,
  envelope: Envelope | undefined,
  progressToken: number,
): Readonly<Record<string, unknown>> {
  const { params, onProgress } = request;
  if (envelope === undefined && onProgress === undefined) return params;
  const own = params._meta as Record<string, unknown> | undefined;
  if (own === undefined) {
    const meta = onProgress === undefined ? envelope : { ...envelope, progressToken };
    return keepSpelling(params, { ...params, _meta: meta });
  }
  const meta = keepSpelling(own, { ...envelope, ...own, ...(onProgress && { progressToken }) });
  return keepSpelling(params, { ...params, _meta: meta });
}
