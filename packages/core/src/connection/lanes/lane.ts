/**
 * A lane carries requests to a server and returns raw results. The express lane (channel-lane, http-lane) writes
 * JSON-RPC itself over the connection that the SDK negotiated; the SDK lane uses the SDK's client. Both follow the
 * same contract, tested by one suite.
 */

import type { CancelSignal } from '../../async/cancel-signal.js';
import { copyRawNumbers } from '../../json/lossless-json.js';
import type { ClientResponder } from '../server-requests/client-responders.js';

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface LaneRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Timeout without any progress; progress restarts it. */
  readonly timeoutMs: number;
  /** Maximum duration, whatever progress is reported. */
  readonly maxTotalMs: number;
  readonly signal?: CancelSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Answers requests and receives notifications that belong to this request. */
  readonly responder?: ClientResponder | undefined;
  /** Extra headers on transports that have them (`Mcp-Param-*`). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called with the id of the message, where the lane chooses it. */
  readonly onId?: ((id: number) => void) | undefined;
}

export type LaneResult = Record<string, unknown>;

export interface Lane {
  /** The result as the server sent it; rejects with a TurnbuckleError in every other case. */
  request(request: LaneRequest): Promise<LaneResult>;
}

/** What every request of the 2026-07-28 revision carries in `_meta`. */
export interface Envelope {
  readonly 'io.modelcontextprotocol/protocolVersion': string;
  readonly 'io.modelcontextprotocol/clientInfo': Readonly<Record<string, unknown>>;
  readonly 'io.modelcontextprotocol/clientCapabilities': Readonly<Record<string, unknown>>;
}

/** Params plus what the revision and the request's options add to `_meta`; the caller's keys win. */
export function completeParams(
  request: Pick<LaneRequest, 'params' | 'onProgress'>,
  envelope: Envelope | undefined,
  progressToken: number,
): Readonly<Record<string, unknown>> {
  const { params, onProgress } = request;
  if (envelope === undefined && onProgress === undefined) return params;
  const own = params._meta as Record<string, unknown> | undefined;
  if (own === undefined) {
    const meta = onProgress === undefined ? envelope : { ...envelope, progressToken };
    return copyRawNumbers(params, { ...params, _meta: meta });
  }
  const meta = copyRawNumbers(own, { ...envelope, ...own, ...(onProgress && { progressToken }) });
  return copyRawNumbers(params, { ...params, _meta: meta });
}
