/** From our errors to the protocol's: what a server said passes as it was said, the rest is told in our words. */
import { ERRORS, TurnbuckleError } from 'turnbuckle';
import { CODES, isRecord, type Params, RpcError } from './protocol.js';

const HTTP: Readonly<Record<number, number>> = {
  [CODES.headerMismatch]: 400,
  [CODES.missingCapability]: 400,
  [CODES.unsupportedVersion]: 400,
  [CODES.unknownMethod]: 404,
};

/** The error of a request that has no other way to say that it failed. */
export function toRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (!(thrown instanceof TurnbuckleError))
    return new RpcError(CODES.internal, 'An error inside the gateway');
  const said = saidByServer(thrown);
  if (said !== undefined) return said;
  const { code, message, hint, server, tool } = thrown;
  const { rpc } = ERRORS[code];
  return new RpcError(rpc, message, { data: { code, hint, server, tool }, http: HTTP[rpc] ?? 200 });
}

/** What the server itself answered; what it would say about our headers or revision is not the client's matter. */
function saidByServer({ data }: TurnbuckleError): RpcError | undefined {
  const rpc = data?.rpc;
  if (!isRecord(rpc) || typeof rpc.code !== 'number' || typeof rpc.message !== 'string') return undefined;
  if (rpc.code === CODES.headerMismatch || rpc.code === CODES.unsupportedVersion) return undefined;
  return new RpcError(rpc.code, rpc.message, { data: rpc.data, http: HTTP[rpc.code] ?? 200 });
}

/** What is a matter of the protocol, not something that the model behind the client could react to. */
const PROTOCOL_MATTERS = new Set<string>([
  'TOOL_UNKNOWN',
  'SERVER_ERROR',
  'INPUT_REQUIRED',
  'CALL_CANCELLED',
]);

/** A failed tool call as a result that the model can read; undefined where the protocol has an error for it. */
export function toToolFailure(thrown: unknown): Params | undefined {
  if (!(thrown instanceof TurnbuckleError) || PROTOCOL_MATTERS.has(thrown.code)) return undefined;
  const { code, message, hint, server, tool } = thrown;
  return {
    content: [{ type: 'text', text: hint === undefined ? message : `${message} ${hint}` }],
    isError: true,
    _meta: { 'turnbuckle/error': { code, message, hint, server, tool } },
  };
}
