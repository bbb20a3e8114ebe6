/** The headers of the newer revision, which repeat parts of the body: they must say the same. */
import type { IncomingHttpHeaders } from 'node:http';
import { type CatalogTool, scanHeaderParameters } from 'turnbuckle';
import { CODES, isRecord, META, MODERN_VERSION, metaOf, RpcError, type RpcRequest } from './protocol.js';

/** Where each method has what `Mcp-Name` repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Throws an RpcError with the status that the revision names. */
export function checkRequestHeaders(headers: IncomingHttpHeaders, { method, params }: RpcRequest): void {
  const version = metaOf(params)[META.version];
  const told = headers['mcp-protocol-version'];
  if (told === undefined) throw mismatch('The header MCP-Protocol-Version is missing');
  if (version !== undefined && told !== version)
    throw mismatch(`MCP-Protocol-Version is ${told}, the body says ${String(version)}`);
  if (headers['mcp-method'] === undefined) throw mismatch('The header Mcp-Method is missing');
  if (headers['mcp-method'] !== method)
    throw mismatch(`Mcp-Method is ${headers['mcp-method']}, the body says ${method}`);
  const key = NAMED[method];
  const name = key === undefined ? undefined : params[key];
  if (typeof name !== 'string') return;
  const header = headers['mcp-name'];
  if (typeof header !== 'string') throw mismatch('The header Mcp-Name is missing');
  if (header !== name && decode(header) !== name) throw mismatch(`Mcp-Name is not the ${key} in the body`);
}

/** What a request says about itself in `_meta`. Throws an RpcError. */
export function checkEnvelope({ params }: RpcRequest): void {
  const meta = metaOf(params);
  const version = meta[META.version];
  if (typeof version !== 'string') throw invalid(`_meta has no ${META.version}`);
  if (version !== MODERN_VERSION) throw unsupportedVersion(version);
  if (!isRecord(meta[META.capabilities])) throw invalid(`_meta has no ${META.capabilities}`);
}

export const unsupportedVersion = (requested: string): RpcError =>
  new RpcError(CODES.unsupportedVersion, `Unsupported protocol version: ${requested}`, {
    data: { supported: [MODERN_VERSION], requested },
    http: 400,
  });

/** Whether a tool wants any of its arguments repeated in headers. */
export function hasParameterHeaders(tool: CatalogTool): boolean {
  const scan = scanHeaderParameters(tool.inputSchema);
  return 'parameters' in scan && scan.parameters.length > 0;
}

/** Arguments that a tool wants repeated in headers are there, and the same. */
export function checkParameterHeaders(headers: IncomingHttpHeaders, tool: CatalogTool, args: unknown): void {
  const scan = scanHeaderParameters(tool.inputSchema);
  if (!('parameters' in scan)) return;
  for (const { header, path } of scan.parameters) {
    const name = `mcp-param-${header.toLowerCase()}`;
    const told = headers[name];
    const value = path.reduce<unknown>((node, key) => (isRecord(node) ? node[key] : undefined), args);
    const isThere = value !== undefined && value !== null;
    if (!isThere) {
      if (told !== undefined) throw mismatch(`${name} is there, but not its argument`);
      continue;
    }
    if (typeof told !== 'string') throw mismatch(`The header ${name} is missing`);
    const decoded = decode(told);
    if (decoded === undefined) throw mismatch(`${name} is not encoded as it should be`);
    if (decoded !== String(value) && !isSameNumber(decoded, value))
      throw mismatch(`${name} is not the argument in the body`);
  }
}

const isSameNumber = (text: string, value: unknown): boolean =>
  typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(text) && Number(text) === value;

/** The value of a header that may be in base64; undefined when it is not valid. */
function decode(header: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(header)?.[1];
  if (encoded === undefined) return header;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0) return undefined;
  return Buffer.from(encoded, 'base64').toString('utf8');
}

const mismatch = (message: string): RpcError => new RpcError(CODES.headerMismatch, message, { http: 400 });
const invalid = (message: string): RpcError => new RpcError(CODES.invalidParams, message, { http: 400 });
