/** Shows, connects and disconnects servers. */
import type { ConfiguredRuntime } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { EMPTY_OBJECT, readOptionalJson } from '../../http/validate.js';
import { ServerLookup } from '../servers/server-lookup.js';
import { readerAccessOf, SERVER, SERVER_SUMMARY, toSummary } from '../shapes/server-shape.js';
import { visibilityOf } from '../visibility.js';

export function createServerRoutes(configured: ConfiguredRuntime): readonly ApiRoute[] {
  const { runtime } = configured;
  const view = new ServerLookup(configured);
  return [
    {
      method: 'GET',
      path: '/api/servers',
      access: 'read',
      summary: 'List servers with their status',
      response: z.object({ servers: z.array(SERVER_SUMMARY) }),
      handle: async (context) => {
        const visibility = visibilityOf(runtime, context);
        const seen = runtime.status().filter(({ name }) => visibility.canSee({ server: name }));
        const reader = readerAccessOf(context);
        const servers = seen.map((status) => toSummary(status, configured, reader));
        return { servers: await Promise.all(servers) };
      },
    },
    {
      method: 'GET',
      path: '/api/servers/:name',
      access: 'read',
      summary: 'Get the full details of one server',
      response: SERVER,
      handle: (context) => view.describe(view.nameOf(context), context),
    },
    ...createActionRoutes(view),
  ];
}

function createActionRoutes(view: ServerLookup): readonly ApiRoute[] {
  const { runtime } = view.configured;
  const act = (word: string, summary: string, run: (name: string) => Promise<void>): ApiRoute => ({
    method: 'POST',
    path: `/api/servers/:name/${word}`,
    access: 'admin',
    summary,
    body: EMPTY_OBJECT,
    response: SERVER,
    handle: async (context) => {
      const name = view.nameOf(context);
      await readOptionalJson(context, EMPTY_OBJECT);
      await run(name);
      return view.describe(name, context);
    },
  });
  return [
    act('connect', 'Connect a server', (name) => runtime.connect(name)),
    act('disconnect', 'Disconnect a server; the next call connects it again', (name) =>
      runtime.disconnect(name),
    ),
    act('reconnect', 'Disconnect a server and connect it again', (name) => runtime.reconnect(name)),
    act('refresh', "Reload a server's tools, resources and prompts", (name) => runtime.refresh(name)),
    {
      method: 'POST',
      path: '/api/servers/:name/ping',
      access: 'admin',
      summary: 'Ping a server',
      body: EMPTY_OBJECT,
      response: z.object({ alive: z.boolean(), ms: z.optional(z.number()) }),
      handle: async (context) => {
        const name = view.nameOf(context);
        await readOptionalJson(context, EMPTY_OBJECT);
        const alive = await runtime.ping(name);
        return { alive, ms: runtime.serverStatus(name).lastPing?.ms };
      },
    },
  ];
}
