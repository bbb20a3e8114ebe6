/** Converts our errors to JSON-RPC errors: those of a server pass unchanged, others get our message. */
import { TurnbuckleError } from 'turnbuckle';
import { ERRORS, isRecord } from 'turnbuckle/host';
import { withoutFile } from '../../identity/without-file.js';
import { CODES, type Params, RpcError } from './protocol.js';

const HTTP_STATUS_BY_CODE: Readonly<Record<number, number>> = {
  [CODES.headerMismatch]: 400,
  [CODES.missingCapability]: 400,
  [CODES.unsupportedVersion]: 400,
  [CODES.unknownMethod]: 404,
};

/** The error of a request that has no other way to report a failure. */
export function toRpcError(caught: unknown): RpcError {
  const thrown = withoutFile(caught);
  if (thrown instanceof RpcError) return thrown;
  if (!(thrown instanceof TurnbuckleError))
    return new RpcError(CODES.internal, 'Internal error in the gateway');
  const said = serverRpcError(thrown);
  if (said !== undefined) return said;
  const { code, message, hint, server, tool } = thrown;
  const { rpc } = ERRORS[code];
  return new RpcError(rpc, message, {
    data: { code, hint, server, tool },
    http: HTTP_STATUS_BY_CODE[rpc] ?? 200,
  });
}

/** The server's own error; its complaints about our headers or revision are not for the client. */
function serverRpcError({ data }: TurnbuckleError): RpcError | undefined {
  const rpc = data?.rpc;
  if (!isRecord(rpc) || typeof rpc.code !== 'number' || typeof rpc.message !== 'string') return undefined;
  if (rpc.code === CODES.headerMismatch || rpc.code === CODES.unsupportedVersion) return undefined;
  return new RpcError(rpc.code, rpc.message, { data: rpc.data, http: HTTP_STATUS_BY_CODE[rpc.code] ?? 200 });
}

/** Protocol errors, which the model behind the client could not react to. */
const PROTOCOL_ERROR_CODES = new Set<string>([
  'TOOL_UNKNOWN',
  'SERVER_ERROR',
  'INPUT_REQUIRED',
  'CALL_CANCELLED',
]);

/** A failed tool call as a result that the model can read; undefined if the protocol has an error for it. */
export function toToolFailure(caught: unknown): Params | undefined {
  const thrown = withoutFile(caught);
  if (!(thrown instanceof TurnbuckleError) || PROTOCOL_ERROR_CODES.has(thrown.code)) return undefined;
  const { code, message, hint, server, tool } = thrown;
  return {
    content: [{ type: 'text', text: hint === undefined ? message : `${message} ${hint}` }],
    isError: true,
    _meta: { 'turnbuckle/error': { code, message, hint, server, tool } },
  };
}
