/** Which servers there are: added, changed and taken out in the user's own files. */
import { dangersOf, redactConfig } from 'turnbuckle';
import * as z from 'zod/mini';
import { readJson } from '../http/body.js';
import type { ApiParts } from './api-parts.js';
import type { ApiRoute } from './api-route.js';
import { cleanTexts } from './clean.js';
import { misfit, NOTHING, readBody } from './fit.js';
import { ServerEdits } from './server-edits.js';
import { SERVER } from './server-shape.js';
import { ServerView } from './server-view.js';
import { ANYTHING } from './shapes.js';
import { requireWhole } from './sight.js';

const ADD_BODY = z.strictObject({ name: z.string(), config: ANYTHING });
const ADDED = z.object({
  file: z.string(),
  entry: ANYTHING,
  /** What in the entry runs something else than it seems to, or with more rights. */
  dangers: z.array(z.string()),
  server: SERVER,
});
const CHANGED = z.object({ file: z.string(), server: SERVER });
const REMOVED = z.object({
  removed: z.string(),
  file: z.string(),
  /** Another file has a server of that name, which is in effect now. */
  server: z.optional(SERVER),
});

export function createServerChangeRoutes({ configured, onConfigChanged }: ApiParts): readonly ApiRoute[] {
  const view = new ServerView(configured);
  const edits = new ServerEdits(configured, () => onConfigChanged?.());
  return [
    addRoute(view, edits),
    patchRoute(view, edits),
    deleteRoute(view, edits),
    switchRoute(view, edits, true),
    switchRoute(view, edits, false),
  ];
}

function addRoute(view: ServerView, edits: ServerEdits): ApiRoute {
  const { runtime } = view.configured;
  const clean = (value: unknown): Promise<unknown> => cleanTexts(value, runtime);
  return {
    method: 'POST',
    path: '/api/servers',
    access: 'manage',
    summary: 'Add a server to your configuration; its command runs on the machine of the daemon',
    body: ADD_BODY,
    answer: ADDED,
    handle: async (visit) => {
      requireWhole(runtime, visit);
      const { name, config } = await readJson(visit, ADD_BODY);
      const file = await edits.add(name, config, () => visit.confirm());
      const [entry, dangers] = await Promise.all([clean(redactConfig(config)), clean(dangersOf(config))]);
      return { file, entry, dangers, server: await view.show(name, visit) };
    },
  };
}

const patchRoute = (view: ServerView, edits: ServerEdits): ApiRoute => ({
  method: 'PATCH',
  path: '/api/servers/:name',
  access: 'manage',
  summary: 'Change keys of a server in your configuration; null takes one out',
  body: ANYTHING,
  answer: CHANGED,
  handle: async (visit) => {
    const name = view.nameOf(visit);
    const changes = await readJson(visit, ANYTHING);
    if (Object.keys(changes).length === 0)
      throw misfit('body', [{ path: '', message: 'it names no key to change' }]);
    const file = await edits.adjust(name, changes, () => visit.confirm());
    return { file, server: await view.show(name, visit) };
  },
});

const deleteRoute = (view: ServerView, edits: ServerEdits): ApiRoute => ({
  method: 'DELETE',
  path: '/api/servers/:name',
  access: 'manage',
  summary: 'Take a server out of your configuration',
  answer: REMOVED,
  handle: async (visit) => {
    const name = view.nameOf(visit);
    const file = await edits.remove(name, () => visit.confirm());
    const isBack = view.configured.runtime.serverNames().includes(name);
    return { removed: name, file, ...(isBack && { server: await view.show(name, visit) }) };
  },
});

const switchRoute = (view: ServerView, edits: ServerEdits, enabled: boolean): ApiRoute => ({
  method: 'POST',
  path: `/api/servers/:name/${enabled ? 'enable' : 'disable'}`,
  access: 'manage',
  summary: `Switch a server ${enabled ? 'on' : 'off'} in your configuration`,
  body: NOTHING,
  answer: CHANGED,
  handle: async (visit) => {
    const name = view.nameOf(visit);
    await readBody(visit, NOTHING);
    const file = await edits.switch(name, enabled, () => visit.confirm());
    return { file, server: await view.show(name, visit) };
  },
});
