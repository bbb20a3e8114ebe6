/** Requests of MCP clients, in both eras, as spans. */
import { TurnbuckleError } from 'turnbuckle';
import { isRecord, type RequestEnd } from 'turnbuckle/host';
import { type ServedRequest, ServerSpan } from '../telemetry/server-span.js';
import { type DispatcherResult, isResponseText } from './dispatcher-request.js';
import { metaOf, type RpcRequest } from './protocol/protocol.js';
import { toRpcError } from './protocol/to-rpc-error.js';
import type { ViewContext } from './view-context.js';

type Sender = Pick<ServedRequest, 'headers' | 'callerId' | 'protocolVersion' | 'sessionId'>;

/** Undefined if telemetry is off. */
export function startServerSpan(
  { telemetry, runtime }: ViewContext,
  { id, method, params }: RpcRequest,
  sender: Sender,
): ServerSpan | undefined {
  if (telemetry === undefined) return undefined;
  const redact = (value: unknown): unknown => runtime.redact(value);
  return new ServerSpan(telemetry, {
    ...sender,
    method,
    params,
    meta: metaOf(params),
    requestId: id,
    redact,
  });
}

/** Ends the span with the work, whatever happens. The work reports its result. */
export async function observeServing(
  span: ServerSpan,
  work: (onResult: (result: DispatcherResult) => void) => Promise<void>,
): Promise<void> {
  let end: RequestEnd = {};
  try {
    await work((result) => {
      end = toRequestEnd(result);
    });
  } catch (thrown) {
    end = failureOf(thrown);
    throw thrown;
  } finally {
    span.end(end);
  }
}

function toRequestEnd(result: DispatcherResult): RequestEnd {
  if (isResponseText(result) || result.isError !== true) return {};
  const own = isRecord(result._meta) ? result._meta['turnbuckle/error'] : undefined;
  // Only our own errors have a code in a known form; a server may write anything there.
  const code =
    isRecord(own) && typeof own.code === 'string' && /^[A-Z_]{1,40}$/.test(own.code) ? own.code : undefined;
  return { failure: { 'error.type': 'tool_error' }, status: code ?? 'tool_error' };
}

/** The JSON-RPC error that the client gets. */
function failureOf(thrown: unknown): RequestEnd {
  const code = String(toRpcError(thrown).code);
  return {
    failure: { 'error.type': code, 'rpc.response.status_code': code },
    status: thrown instanceof TurnbuckleError ? thrown.code : code,
  };
}
