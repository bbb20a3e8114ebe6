/** Adds, changes and removes servers in the user's config files. */
import { dangersOf, redactConfig } from 'turnbuckle/host';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { redactTexts } from '../../http/redact.js';
import { EMPTY_OBJECT, invalidInput, readJson, readOptionalJson } from '../../http/validate.js';
import { ServerEdits } from '../servers/server-edits.js';
import { ServerLookup } from '../servers/server-lookup.js';
import { SERVER } from '../shapes/server-shape.js';
import { ANY_OBJECT } from '../shapes/shapes.js';
import { requireUnrestricted } from '../visibility.js';
import type { ApiDependencies } from './api-dependencies.js';

const ADD_BODY = z.strictObject({ name: z.string(), config: ANY_OBJECT });
const ADDED = z.object({
  file: z.string(),
  entry: ANY_OBJECT,
  /** What in the entry runs something other than it seems to, or with more rights. */
  dangers: z.array(z.string()),
  server: SERVER,
});
const CHANGED = z.object({ file: z.string(), server: SERVER });
const REMOVED = z.object({
  removed: z.string(),
  file: z.string(),
  /** Another file has a server of that name, which is now in effect. */
  server: z.optional(SERVER),
});

export function createServerChangeRoutes({
  configured,
  onConfigChanged,
}: ApiDependencies): readonly ApiRoute[] {
  const view = new ServerLookup(configured);
  const edits = new ServerEdits(configured, () => onConfigChanged?.());
  return [
    addRoute(view, edits),
    patchRoute(view, edits),
    deleteRoute(view, edits),
    switchRoute(view, edits, true),
    switchRoute(view, edits, false),
  ];
}

function addRoute(view: ServerLookup, edits: ServerEdits): ApiRoute {
  const { runtime } = view.configured;
  const clean = (value: unknown): Promise<unknown> => redactTexts(value, runtime);
  return {
    method: 'POST',
    path: '/api/servers',
    access: 'admin',
    summary: "Add a server to your configuration; its command runs on the daemon's machine",
    body: ADD_BODY,
    response: ADDED,
    handle: async (context) => {
      requireUnrestricted(runtime, context);
      const { name, config } = await readJson(context, ADD_BODY);
      const file = await edits.add(name, config, () => context.requireActiveToken());
      const [entry, dangers] = await Promise.all([clean(redactConfig(config)), clean(dangersOf(config))]);
      return { file, entry, dangers, server: await view.describe(name, context) };
    },
  };
}

const patchRoute = (view: ServerLookup, edits: ServerEdits): ApiRoute => ({
  method: 'PATCH',
  path: '/api/servers/:name',
  access: 'admin',
  summary: "Change a server's settings in your configuration; null removes a setting",
  body: ANY_OBJECT,
  response: CHANGED,
  handle: async (context) => {
    const name = view.nameOf(context);
    const changes = await readJson(context, ANY_OBJECT);
    if (Object.keys(changes).length === 0)
      throw invalidInput('body', [{ path: '', message: 'expected at least one key to change' }]);
    const file = await edits.update(name, changes, () => context.requireActiveToken());
    return { file, server: await view.describe(name, context) };
  },
});

const deleteRoute = (view: ServerLookup, edits: ServerEdits): ApiRoute => ({
  method: 'DELETE',
  path: '/api/servers/:name',
  access: 'admin',
  summary: 'Remove a server from your configuration',
  response: REMOVED,
  handle: async (context) => {
    const name = view.nameOf(context);
    const file = await edits.remove(name, () => context.requireActiveToken());
    const isBack = view.configured.runtime.serverNames().includes(name);
    return { removed: name, file, ...(isBack && { server: await view.describe(name, context) }) };
  },
});

const switchRoute = (view: ServerLookup, edits: ServerEdits, enabled: boolean): ApiRoute => ({
  method: 'POST',
  path: `/api/servers/:name/${enabled ? 'enable' : 'disable'}`,
  access: 'admin',
  summary: `${enabled ? 'Enable' : 'Disable'} a server in your configuration`,
  body: EMPTY_OBJECT,
  response: CHANGED,
  handle: async (context) => {
    const name = view.nameOf(context);
    await readOptionalJson(context, EMPTY_OBJECT);
    const file = await edits.setEnabled(name, enabled, () => context.requireActiveToken());
    return { file, server: await view.describe(name, context) };
  },
});
