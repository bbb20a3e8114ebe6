/** A server with a few routes, tokens for each access, and a count of what got through. */
import { onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import type { TokenAccess } from '../../src/http/access.js';
import { readJson, readText } from '../../src/http/body.js';
import { type DoorOptions, Doors } from '../../src/http/doors.js';
import type { HttpLimits } from '../../src/http/http-limits.js';
import { HttpServer, type Listening } from '../../src/http/http-server.js';
import type { Route } from '../../src/http/route.js';
import type { Credentials, Visitor } from '../../src/http/visitor.js';

export interface OpenOptions {
  readonly doors?: Partial<DoorOptions>;
  readonly limits?: Partial<HttpLimits>;
  readonly routes?: readonly Route[];
}

export interface OpenServer extends Listening {
  readonly server: HttpServer;
  /** What reached a route, in order. */
  readonly reached: string[];
  readonly defects: unknown[];
}

const visitor = (id: string, ...access: TokenAccess[]): Visitor => ({
  caller: { id, capabilities: ['mcp_integration'] },
  access: new Set(access),
});

const VISITORS = new Map([
  ['all', visitor('all', 'call', 'look', 'manage')],
  ['caller', visitor('caller', 'call')],
]);

export const CREDENTIALS: Credentials = { find: (token) => VISITORS.get(token) };

const Body = z.strictObject({
  name: z.string(),
  list: z.optional(z.array(z.strictObject({ port: z.int() }))),
});

export async function openServer({ doors, limits, routes = [] }: OpenOptions = {}): Promise<OpenServer> {
  const reached: string[] = [];
  const defects: unknown[] = [];
  const own: Route[] = [
    route('GET', '/health', 'open', () => ({ ok: true })),
    route('POST', '/mcp', 'call', async (visit) => ({ length: (await readText(visit)).length })),
    route('POST', '/mcp/:view', 'call', ({ parameters }) => ({ view: parameters.view })),
    route('POST', '/mcp/call', 'call', () => ({ call: true })),
    route('GET', '/tools', 'look', ({ query, caller }) => ({
      search: query.get('search'),
      caller: caller.id,
    })),
    route('PUT', '/servers/:name', 'manage', async (visit) => readJson(visit, Body)),
    route('GET', '/servers/:name', 'look', ({ parameters }) => ({ name: parameters.name })),
    route('DELETE', '/servers/:name', 'manage', ({ parameters }) => ({ gone: parameters.name })),
    ...routes,
  ];
  const counted = own.map((one) => ({
    ...one,
    handle: (visit: Parameters<Route['handle']>[0]) => {
      reached.push(`${one.method} ${visit.path}`);
      return one.handle(visit);
    },
  }));
  const server = new HttpServer({
    routes: counted,
    doors: new Doors({ credentials: CREDENTIALS, ...doors }),
    limits,
    onDefect: (thrown) => defects.push(thrown),
  });
  const listening = await server.listen(0, '127.0.0.1');
  onTestFinished(() => server.close(0));
  return { ...listening, server, reached, defects };
}

export function route(
  method: Route['method'],
  path: string,
  more: Route['access'],
  handle: Route['handle'] = () => ({}),
): Route {
  return { method, path, access: more, summary: path, handle };
}
