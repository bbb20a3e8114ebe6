/** A server with a few routes, tokens for each access, and a list of the requests that reached a route. */

import { onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { Authenticator, type AuthenticatorOptions } from '../../src/http/authenticate.js';
import { readText } from '../../src/http/body.js';
import type { Route } from '../../src/http/route.js';
import type { HttpLimits } from '../../src/http/server/http-limits.js';
import { HttpServer, type ListenAddress } from '../../src/http/server/http-server.js';
import { readJson } from '../../src/http/validate.js';
import type { TokenAccess } from '../../src/identity/access.js';
import type { Credentials, Identity } from '../../src/identity/identity.js';

export interface OpenOptions {
  readonly auth?: Partial<AuthenticatorOptions>;
  readonly limits?: Partial<HttpLimits>;
  readonly routes?: readonly Route[];
}

export interface OpenServer extends ListenAddress {
  readonly server: HttpServer;
  /** What reached a route, in order. */
  readonly reached: string[];
  readonly defects: unknown[];
}

const identity = (id: string, ...access: TokenAccess[]): Identity => ({
  caller: { id, capabilities: ['mcp_integration'] },
  access: new Set(access),
});

const IDENTITIES = new Map([
  ['all', identity('all', 'call', 'read', 'admin')],
  ['caller', identity('caller', 'call')],
]);

export const CREDENTIALS: Credentials = { find: (token) => IDENTITIES.get(token) };

const Body = z.strictObject({
  name: z.string(),
  list: z.optional(z.array(z.strictObject({ port: z.int() }))),
});

export async function openServer({ auth, limits, routes = [] }: OpenOptions = {}): Promise<OpenServer> {
  const reached: string[] = [];
  const defects: unknown[] = [];
  const own: Route[] = [
    route('GET', '/health', 'open', () => ({ ok: true })),
    route('POST', '/mcp', 'call', async (context) => ({ length: (await readText(context)).length })),
    route('POST', '/mcp/:view', 'call', ({ parameters }) => ({ view: parameters.view })),
    route('POST', '/mcp/call', 'call', () => ({ call: true })),
    route('GET', '/tools', 'read', ({ query, caller }) => ({
      search: query.get('search'),
      caller: caller.id,
    })),
    route('PUT', '/servers/:name', 'admin', async (context) => readJson(context, Body)),
    route('GET', '/servers/:name', 'read', ({ parameters }) => ({ name: parameters.name })),
    route('DELETE', '/servers/:name', 'admin', ({ parameters }) => ({ gone: parameters.name })),
    ...routes,
  ];
  const counted = own.map((one) => ({
    ...one,
    handle: (context: Parameters<Route['handle']>[0]) => {
      reached.push(`${one.method} ${context.path}`);
      return one.handle(context);
    },
  }));
  const server = new HttpServer({
    routes: counted,
    authenticator: new Authenticator({ credentials: CREDENTIALS, ...auth }),
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
