/** The words of the protocol that the endpoint itself needs. */

export const MODERN_VERSION = '2026-07-28';
/** The newest first; what an older client asks for and we do not know is answered with the first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

const PREFIX = 'io.modelcontextprotocol/';
export const META = {
  version: `${PREFIX}protocolVersion`,
  capabilities: `${PREFIX}clientCapabilities`,
  clientInfo: `${PREFIX}clientInfo`,
  logLevel: `${PREFIX}logLevel`,
  serverInfo: `${PREFIX}serverInfo`,
  subscription: `${PREFIX}subscriptionId`,
} as const;

export type Params = Readonly<Record<string, unknown>>;
export type RequestId = string | number;

export interface RpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Params | undefined;
}

export interface RpcNotice {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Params | undefined;
}

export interface RpcAnswer {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result?: Params;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** A refusal in the protocol's own terms; `http` where the revision ties it to a status. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  readonly http: number;

  constructor(code: number, message: string, more: { readonly data?: unknown; readonly http?: number } = {}) {
    super(message);
    this.code = code;
    this.data = more.data;
    this.http = more.http ?? 200;
  }
}
