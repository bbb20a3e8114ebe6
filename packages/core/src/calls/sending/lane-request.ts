/** The request of a call as its lane sends it, and what follows if the server requests input. */
import { MAX_TIMER_MS } from '../../async/timer-delay.js';
import type { LaneRequest, LaneResult } from '../../connection/lanes/lane.js';
import type { Link } from '../../connection/link.js';
import { continueWithInput } from '../../connection/server-requests/input-rounds.js';
import { headersFor } from '../../connection/transports/http/mcp-headers.js';
import { isRecord } from '../../json/is-record.js';
import { copyRawNumbers } from '../../json/lossless-json.js';
import type { Server } from '../../servers/server.js';
import type { OutgoingCall } from './outgoing-call.js';

export function toLaneRequest(server: Server, link: Link, sending: OutgoingCall): LaneRequest {
  const { method, options, clock, headerParameters = [], headerArguments } = sending;
  const mirrored = headerParameters.length > 0 && link.era === 'modern' && link.serverTransport.hasHeaders;
  const timeoutMs = Math.min(options.timeoutMs ?? server.config.callTimeoutMs, MAX_TIMER_MS);
  const maxTotalMs = clock.timerMs;
  sending.responseTimeoutMs = Math.min(timeoutMs, maxTotalMs);
  return {
    method,
    params: withCapabilities(server, link, sending),
    timeoutMs,
    maxTotalMs,
    signal: options.signal,
    onProgress: sending.onProgress,
    responder: options.responder,
    headers: mirrored ? headersFor(headerParameters, headerArguments) : undefined,
  };
}

/** A request that the server continues only with input. */
interface InputRequired {
  readonly sending: OutgoingCall;
  readonly request: LaneRequest;
  readonly received: LaneResult;
}

/** The final result. */
export function requestWithInput(
  { requests: guard }: Server,
  { lane }: Link,
  { sending, request, received: result }: InputRequired,
): Promise<LaneResult> {
  const { confirm, clock, options } = sending;
  const passThrough = options.inputRequired === 'return';
  return continueWithInput(lane, request, { result, options: { guard, passThrough, confirm, clock } });
}

/** In newer revisions each request declares which server requests its caller supports, limited by the configuration. */
function withCapabilities(
  { requests }: Server,
  { era }: Link,
  { params, options }: OutgoingCall,
): OutgoingCall['params'] {
  if (era !== 'modern') return params;
  if (options.responder !== undefined)
    return addCapabilities(params, requests.filterCapabilities(options.responder.capabilities));
  return options.inputRequired === 'return'
    ? addCapabilities(params, requests.passThroughCapabilities)
    : params;
}

/** The caller's own `_meta` takes precedence. */
function addCapabilities(
  params: Readonly<Record<string, unknown>>,
  offered: object,
): Readonly<Record<string, unknown>> {
  const meta = isRecord(params._meta) ? params._meta : {};
  const said = copyRawNumbers(meta, { 'io.modelcontextprotocol/clientCapabilities': offered, ...meta });
  return copyRawNumbers(params, { ...params, _meta: said });
}
