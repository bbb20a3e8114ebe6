/** The protocol constants and messages that the endpoints need. */

import { exactInteger, isRecord, withRawText, writeJson } from 'turnbuckle/host';
import { type ResponseText, wrapText } from '../../http/response-text.js';

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
/** A bigint if the number is beyond the safe integers of JavaScript: it is sent back unchanged. */
export type RequestId = string | number | bigint;
export type Era = 'legacy' | 'modern';

export interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
}

export interface RpcNotice {
  readonly method: string;
  readonly params: Params;
}

export interface RpcResponse {
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
  /** The code of older revisions for an unknown session. */
  noSession: -32001,
} as const;

/** What a server can request from a client, by the required capability. */
export const CLIENT_REQUEST_METHODS = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const;

/** An error in terms of the protocol; `http` if the revision ties it to a status. */
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

export const metaOf = (params: Params): Params => (isRecord(params._meta) ? params._meta : {});

/** Message texts, composed from the JSON of their parts: a result that is already text is not parsed again. */
export const resultText = (id: RequestId, result: ResponseText): ResponseText =>
  wrapText(`{"jsonrpc":"2.0","id":${idText(id)},"result":`, result, '}');

export function errorText(id: RequestId | null | IdText, { code, message, data }: RpcError): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${errorObjectText(code, message, data)}}`;
}

function errorObjectText(code: number, message: string, data: unknown): string {
  try {
    return writeJson({ code, message, ...(data !== undefined && { data }) });
  } catch {
    // A response is sent even if its data cannot be serialized.
    return JSON.stringify({ code, message });
  }
}

/** The raw text of an id that was never parsed. */
interface IdText {
  readonly json: string;
}

function idText(id: RequestId | null | IdText): string {
  if (typeof id === 'object' && id !== null) return id.json;
  return typeof id === 'bigint' ? String(id) : JSON.stringify(id);
}

/** A member that refers to a request or its progress: as exact as an id. */
export const exactIdOf = (holder: Params, key: string): unknown => exactInteger(holder, key) ?? holder[key];

/** An object whose only member is an id, to be embedded in a message. */
export const objectWithId = (key: string, id: RequestId): Params =>
  typeof id === 'bigint'
    ? withRawText({ [key]: Number(id) }, `{${JSON.stringify(key)}:${id}}`)
    : { [key]: id };

export function progressText(token: unknown, progress: object): string {
  if (typeof token !== 'bigint')
    return noticeText('notifications/progress', { progressToken: token, ...progress });
  const params = `{"progressToken":${token},${JSON.stringify(progress).slice(1)}`;
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`;
}

export const noticeText = (method: string, params: Params): string =>
  writeJson({ jsonrpc: '2.0', method, params });
