/** Servers: looking at them, and bringing them up and down. */
import type { ConfiguredRuntime } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from './api-route.js';
import { NOTHING, readBody } from './fit.js';
import { readerOf, SERVER, SERVER_SUMMARY, toSummary } from './server-shape.js';
import { ServerView } from './server-view.js';
import { sightOf } from './sight.js';

export function createServerRoutes(configured: ConfiguredRuntime): readonly ApiRoute[] {
  const { runtime } = configured;
  const view = new ServerView(configured);
  return [
    {
      method: 'GET',
      path: '/api/servers',
      access: 'look',
      summary: 'All servers, and how they are',
      answer: z.object({ servers: z.array(SERVER_SUMMARY) }),
      handle: async (visit) => {
        const sight = sightOf(runtime, visit);
        const seen = runtime.status().filter(({ name }) => sight.sees({ server: name }));
        const reader = readerOf(visit);
        const servers = seen.map((status) => toSummary(status, configured, reader));
        return { servers: await Promise.all(servers) };
      },
    },
    {
      method: 'GET',
      path: '/api/servers/:name',
      access: 'look',
      summary: 'One server, with all that is known of it',
      answer: SERVER,
      handle: (visit) => view.show(view.nameOf(visit), visit),
    },
    ...createActRoutes(view),
  ];
}

function createActRoutes(view: ServerView): readonly ApiRoute[] {
  const { runtime } = view.configured;
  const act = (word: string, summary: string, run: (name: string) => Promise<void>): ApiRoute => ({
    method: 'POST',
    path: `/api/servers/:name/${word}`,
    access: 'manage',
    summary,
    body: NOTHING,
    answer: SERVER,
    handle: async (visit) => {
      const name = view.nameOf(visit);
      await readBody(visit, NOTHING);
      await run(name);
      return view.show(name, visit);
    },
  });
  return [
    act('connect', 'Bring a server up', (name) => runtime.connect(name)),
    act('disconnect', 'Let a server go; the next call brings it up again', (name) =>
      runtime.disconnect(name),
    ),
    act('reconnect', 'Let a server go and bring it up again', (name) => runtime.reconnect(name)),
    act('refresh', "Read a server's lists again", (name) => runtime.refresh(name)),
    {
      method: 'POST',
      path: '/api/servers/:name/ping',
      access: 'manage',
      summary: 'Ask a server for a sign of life',
      body: NOTHING,
      answer: z.object({ alive: z.boolean(), ms: z.optional(z.number()) }),
      handle: async (visit) => {
        const name = view.nameOf(visit);
        await readBody(visit, NOTHING);
        const alive = await runtime.ping(name);
        return { alive, ms: runtime.serverStatus(name).lastPing?.ms };
      },
    },
  ];
}
