import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type JsonObject, toObject } from './json.js';
import { claimedRevision } from './revisions.js';
import { HEADER_MISMATCH, RpcError } from './rpc-error.js';

const NAME_SOURCES: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

interface Mirrored {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  readonly params: JsonObject;
}

/** Checks that the headers of a modern request match its body; throws -32020 if they do not. */
export function checkRequestHeaders({ headers, method, params }: Mirrored, inputSchema: unknown): void {
  compare('MCP-Protocol-Version', headers['mcp-protocol-version'], claimedRevision(params));
  compare('Mcp-Method', headers['mcp-method'], method);
  const source = NAME_SOURCES[method];
  if (source !== undefined) compare('Mcp-Name', decode('Mcp-Name', headers['mcp-name']), params[source]);
  for (const { name, path } of findAnnotations(inputSchema, [])) {
    const header = `Mcp-Param-${name}`;
    const value = path.reduce<unknown>((node, key) => toObject(node)[key], params.arguments) ?? undefined;
    compare(header, decode(header, headers[header.toLowerCase()]), value);
  }
}

function compare(header: string, given: unknown, expected: unknown): void {
  const matches = typeof expected === 'number' ? Number(given) === expected : given === toText(expected);
  if (matches) return;
  const problem =
    given === undefined ? 'is missing' : `value '${given}' does not match body value '${String(expected)}'`;
  throw new RpcError(HEADER_MISMATCH, `Header mismatch: ${header} ${problem}`, { status: 400 });
}

function toText(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value);
}

function decode(header: string, given: string | string[] | undefined): string | undefined {
  if (given === undefined) return undefined;
  const value = String(given);
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) {
    throw new RpcError(HEADER_MISMATCH, `Header mismatch: ${header} is not proper base64`, { status: 400 });
  }
  return bytes.toString('utf8');
}

/** The `x-mcp-header` annotations of a schema that are reachable through `properties` alone. */
function findAnnotations(
  schema: unknown,
  path: readonly string[],
): { name: string; path: readonly string[] }[] {
  const found = Object.entries(toObject(toObject(schema).properties)).flatMap(([key, property]) => {
    const name = toObject(property)['x-mcp-header'];
    const here = typeof name === 'string' ? [{ name, path: [...path, key] }] : [];
    return isObject(property) ? [...here, ...findAnnotations(property, [...path, key])] : here;
  });
  return found;
}
