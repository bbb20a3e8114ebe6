/** The words of the protocol that the endpoints themselves need. */

import { exactInteger, spelled, writeJson } from 'turnbuckle';
import { type AnswerText, within } from '../http/answer-text.js';

export const MODERN_VERSION = '2026-07-28';
/** The newest first; what an older client asks for and we do not know is answered with the first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

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
/** A bigint where the number has more digits than a number of JavaScript holds: it goes back as it came. */
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

export interface RpcAnswer {
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
  /** What older revisions say of a session that is not there. */
  noSession: -32001,
} as const;

/** What a server can ask of a client, by the capability that it takes. */
export const ASKS = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
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

export const isRecord = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const metaOf = (params: Params): Params => (isRecord(params._meta) ? params._meta : {});

/** The texts of messages, made of the JSON of their parts: a result that is text already is not read again. */
export const resultText = (id: RequestId, result: AnswerText): AnswerText =>
  within(`{"jsonrpc":"2.0","id":${idText(id)},"result":`, result, '}');

export function errorText(id: RequestId | null | IdText, { code, message, data }: RpcError): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${partsOfError(code, message, data)}}`;
}

function partsOfError(code: number, message: string, data: unknown): string {
  try {
    return writeJson({ code, message, ...(data !== undefined && { data }) });
  } catch {
    // What cannot be written is no reason not to answer.
    return JSON.stringify({ code, message });
  }
}

/** An id that was never read, as it was written. */
interface IdText {
  readonly json: string;
}

function idText(id: RequestId | null | IdText): string {
  if (typeof id === 'object' && id !== null) return id.json;
  return typeof id === 'bigint' ? String(id) : JSON.stringify(id);
}

/** A member that names a request or its progress: as exact as an id. */
export const idIn = (holder: Params, key: string): unknown => exactInteger(holder, key) ?? holder[key];

/** An object whose only member is an id, to be written anywhere in a message. */
export const idMember = (key: string, id: RequestId): Params =>
  typeof id === 'bigint' ? spelled({ [key]: Number(id) }, `{${JSON.stringify(key)}:${id}}`) : { [key]: id };

export function progressText(token: unknown, progress: object): string {
  if (typeof token !== 'bigint')
    return noticeText('notifications/progress', { progressToken: token, ...progress });
  const params = `{"progressToken":${token},${JSON.stringify(progress).slice(1)}`;
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`;
}

export const noticeText = (method: string, params: Params): string =>
  writeJson({ jsonrpc: '2.0', method, params });
