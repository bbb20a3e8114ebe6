/** The headers of the newer revision, which repeat parts of the body and must match them. */
import type { IncomingHttpHeaders } from 'node:http';
import type { CatalogTool } from 'turnbuckle';
import { isRecord, MODERN_REVISION, scanHeaderParameters } from 'turnbuckle/host';
import { CODES, META, metaOf, RpcError, type RpcRequest } from '../protocol/protocol.js';

/** The param of each method that `Mcp-Name` repeats. */
const NAME_PARAMS: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Throws an RpcError with the HTTP status that the revision defines. */
export function checkRequestHeaders(headers: IncomingHttpHeaders, { method, params }: RpcRequest): void {
  const version = metaOf(params)[META.version];
  const sent = headers['mcp-protocol-version'];
  if (sent === undefined) throw mismatch('Missing header MCP-Protocol-Version');
  if (version !== undefined && sent !== version)
    throw mismatch(`Header MCP-Protocol-Version is ${sent}, but the body has ${String(version)}`);
  if (headers['mcp-method'] === undefined) throw mismatch('Missing header Mcp-Method');
  if (headers['mcp-method'] !== method)
    throw mismatch(`Header Mcp-Method is ${headers['mcp-method']}, but the body has ${method}`);
  const key = Object.hasOwn(NAME_PARAMS, method) ? NAME_PARAMS[method] : undefined;
  const name = key === undefined ? undefined : params[key];
  if (typeof name !== 'string') return;
  const header = headers['mcp-name'];
  if (typeof header !== 'string') throw mismatch('Missing header Mcp-Name');
  if (header !== name && decode(header) !== name)
    throw mismatch(`Header Mcp-Name does not match ${key} in the body`);
}

/** Checks `_meta` of a request. Throws an RpcError. */
export function checkEnvelope({ params }: RpcRequest): void {
  const meta = metaOf(params);
  const version = meta[META.version];
  if (typeof version !== 'string') throw invalid(`Missing ${META.version} in _meta`);
  if (version !== MODERN_REVISION) throw unsupportedVersion(version);
  if (!isRecord(meta[META.capabilities])) throw invalid(`Missing ${META.capabilities} in _meta`);
}

export const unsupportedVersion = (requested: string): RpcError =>
  new RpcError(CODES.unsupportedVersion, `Unsupported protocol version: ${requested}`, {
    data: { supported: [MODERN_REVISION], requested },
    http: 400,
  });

/** Whether a tool requires any of its arguments in headers. */
export function hasParameterHeaders(tool: CatalogTool): boolean {
  const scan = scanHeaderParameters(tool.inputSchema);
  return 'parameters' in scan && scan.parameters.length > 0;
}

/** Checks that the arguments a tool requires in headers are there and match. */
export function checkParameterHeaders(headers: IncomingHttpHeaders, tool: CatalogTool, args: unknown): void {
  const scan = scanHeaderParameters(tool.inputSchema);
  if (!('parameters' in scan)) return;
  for (const { header, path } of scan.parameters) {
    const name = `mcp-param-${header.toLowerCase()}`;
    const sent = headers[name];
    const value = path.reduce<unknown>((node, key) => (isRecord(node) ? node[key] : undefined), args);
    const isThere = value !== undefined && value !== null;
    if (!isThere) {
      if (sent !== undefined) throw mismatch(`Header ${name} is set, but the body has no such argument`);
      continue;
    }
    if (typeof sent !== 'string') throw mismatch(`Missing header ${name}`);
    const decoded = decode(sent);
    if (decoded === undefined) throw mismatch(`Invalid encoding in header ${name}`);
    if (decoded !== String(value) && !isSameNumber(decoded, value))
      throw mismatch(`Header ${name} does not match the argument in the body`);
  }
}

const isSameNumber = (text: string, value: unknown): boolean =>
  typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(text) && Number(text) === value;

/** Decodes a header value that may be in base64; undefined if it is invalid. */
function decode(header: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(header)?.[1];
  if (encoded === undefined) return header;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0) return undefined;
  return Buffer.from(encoded, 'base64').toString('utf8');
}

const mismatch = (message: string): RpcError => new RpcError(CODES.headerMismatch, message, { http: 400 });
const invalid = (message: string): RpcError => new RpcError(CODES.invalidParams, message, { http: 400 });
