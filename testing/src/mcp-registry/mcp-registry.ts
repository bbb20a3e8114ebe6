/** An MCP registry for tests: the API v0.1 over HTTP on loopback, and the ways in which a registry can fail. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RegistryEntry } from './registry-records.js';

/** What goes wrong with one request. */
export type RegistryFault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'redirect'; readonly to: string }
  /** The body as it is, for example text that is not JSON. */
  | { readonly kind: 'body'; readonly body: string; readonly type?: string }
  /** A list whose next cursor is always new, or always the same. */
  | { readonly kind: 'endless-pages' | 'cyclic-cursor' | 'empty-pages' }
  /** A body that never ends. */
  | { readonly kind: 'huge-body' }
  /** No answer until the registry stops. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'hang-up' };

export interface McpRegistryOptions {
  readonly records: readonly unknown[];
  /** The most records of a page (30). */
  readonly pageSize?: number;
  /** One for each of the first requests; undefined for a request that works. */
  readonly faults?: ReadonlyArray<RegistryFault | undefined>;
}

export interface SeenRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
}

export interface McpRegistry {
  /** The base of the API. */
  readonly url: string;
  readonly requests: SeenRequest[];
  /** May be replaced. */
  records: readonly unknown[];
  /** Taken one by one by the next requests. */
  readonly faults: Array<RegistryFault | undefined>;
  /** For every request for which `faults` has none. */
  fault: RegistryFault | undefined;
  stop(): Promise<void>;
}

const DEFAULT_PAGE_SIZE = 30;
const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const VERSION_PATH = /^\/v0\.1\/servers\/([^/]+)\/versions(?:\/([^/]+))?$/;

/**
 * Serves `/v0.1/servers`, the versions of a server, and `/copy.json`, all records with an ETag. Records that are not
 * entries are part of the pages too.
 */
export async function startMcpRegistry(options: McpRegistryOptions): Promise<McpRegistry> {
  const { records, pageSize = DEFAULT_PAGE_SIZE, faults = [] } = options;
  const server = createServer((request, response) => answer(registry, { request, response, pageSize }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const registry: McpRegistry = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    records,
    faults: [...faults],
    fault: undefined,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return registry;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pageSize: number;
}

function answer(registry: McpRegistry, { request, response, pageSize }: Exchange): void {
  const url = new URL(request.url ?? '', registry.url);
  const query = Object.fromEntries(url.searchParams);
  registry.requests.push({ path: url.pathname, query, headers: request.headers });
  const fault = registry.faults.length > 0 ? registry.faults.shift() : registry.fault;
  if (fault !== undefined) return fail(fault, response, registry.requests.length);
  const [, name, version] = VERSION_PATH.exec(url.pathname) ?? [];
  if (url.pathname === '/v0.1/servers') sendJson(response, page(registry.records, query, pageSize));
  else if (url.pathname === '/copy.json') sendCopy(registry, request, response);
  else if (name !== undefined) sendVersions(registry, response, [name, version].map(decode));
  else sendJson(response, { error: 'Not found' }, 404);
}

const decode = (part: string | undefined): string | undefined =>
  part === undefined ? undefined : decodeURIComponent(part);

function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Entries first filtered, then cut into pages; the cursor is the place of the next one. */
function page(records: readonly unknown[], query: Readonly<Record<string, string>>, pageSize: number) {
  const found = records.filter((record) => !isEntry(record) || isWanted(record, query));
  const start = Number(Buffer.from(query.cursor ?? '', 'base64url').toString() || 0);
  const end = start + Math.min(Number(query.limit ?? pageSize), pageSize);
  const servers = found.slice(start, end);
  const nextCursor = end < found.length ? Buffer.from(String(end)).toString('base64url') : undefined;
  return { servers, metadata: { count: servers.length, nextCursor } };
}

function isWanted({ server, _meta }: RegistryEntry, query: Readonly<Record<string, string>>): boolean {
  const { search, version, updated_since: since } = query;
  const { status, isLatest, updatedAt } = official(_meta);
  if (search !== undefined && !server.name.toLowerCase().includes(search.toLowerCase())) return false;
  if (version === 'latest' ? isLatest === false : version !== undefined && version !== server.version)
    return false;
  // As the official registry does: deleted servers are part of the changes only.
  if (since === undefined) return status !== 'deleted' || query.include_deleted === 'true';
  return Date.parse(String(updatedAt)) >= Date.parse(since);
}

const isEntry = (record: unknown): record is RegistryEntry =>
  typeof record === 'object' && record !== null && 'server' in record && '_meta' in record;

const official = (meta: RegistryEntry['_meta']): Readonly<Record<string, unknown>> =>
  (meta[OFFICIAL] ?? {}) as Readonly<Record<string, unknown>>;

function sendVersions(
  { records }: McpRegistry,
  response: ServerResponse,
  [name, version]: ReadonlyArray<string | undefined>,
): void {
  const all = records.filter(isEntry).filter(({ server }) => server.name === name);
  const versions = all.filter(({ _meta }) => official(_meta).status !== 'deleted');
  if (version === undefined && versions.length > 0)
    return sendJson(response, { servers: versions, metadata: { count: versions.length } });
  const found = versions.find(({ server, _meta }) =>
    version === 'latest' ? official(_meta).isLatest !== false : server.version === version,
  );
  if (found === undefined) sendJson(response, { error: 'Server not found' }, 404);
  else sendJson(response, found);
}

function sendCopy({ records }: McpRegistry, request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ servers: records });
  const etag = `"${body.length}"`;
  if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
  else response.writeHead(200, { etag, 'content-type': 'text/plain' }).end(body);
}

function fail(fault: RegistryFault, response: ServerResponse, number: number): void {
  switch (fault.kind) {
    case 'status': {
      const { status, retryAfter } = fault;
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
      return;
    }
    case 'redirect':
      response.writeHead(302, { location: fault.to }).end();
      return;
    case 'body':
      response.writeHead(200, { 'content-type': fault.type ?? 'application/json' }).end(fault.body);
      return;
    case 'endless-pages':
      return sendJson(response, {
        servers: [inventedEntry(number)],
        metadata: { nextCursor: `next-${number}` },
      });
    case 'empty-pages':
      return sendJson(response, { servers: [], metadata: { nextCursor: `next-${number}` } });
    case 'cyclic-cursor':
      return sendJson(response, { servers: [inventedEntry(number)], metadata: { nextCursor: 'again' } });
    case 'huge-body':
      return writeForever(response);
    case 'hang-up':
      return void response.destroy();
    case 'silent':
  }
}

const inventedEntry = (number: number) => ({
  server: {
    name: `io.github.endless/server-${number}`,
    description: 'One more weather server',
    version: '1.0.0',
    packages: [{ registryType: 'npm', identifier: `endless-${number}`, transport: { type: 'stdio' } }],
  },
  _meta: {},
});

function writeForever(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const part = Buffer.alloc(64 * 1_024, 32);
  const write = (): void => {
    while (!response.destroyed && response.write(part));
  };
  response.on('drain', write);
  write();
}
