import type { JsonObject } from './json.js';

interface RpcErrorOptions {
  readonly data?: JsonObject;
  /** The status for HTTP transports; errors of a tool itself stay 200. */
  readonly status?: number;
}

/** A failure that is answered as a JSON-RPC error object. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: JsonObject | undefined;
  readonly status: number;

  constructor(code: number, message: string, options: RpcErrorOptions = {}) {
    super(message);
    this.code = code;
    this.data = options.data;
    this.status = options.status ?? 200;
  }

  /** The `error` member of the response. */
  toJson(): JsonObject {
    return { code: this.code, message: this.message, ...(this.data && { data: this.data }) };
  }
}

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const RESOURCE_NOT_FOUND = -32002;
export const HEADER_MISMATCH = -32020;
export const MISSING_CLIENT_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** Anything thrown, as the error that is sent. */
export function toRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  return new RpcError(INTERNAL_ERROR, thrown instanceof Error ? thrown.message : String(thrown));
}
