/** The management API: everything that the owner of the daemon can see and change, over HTTP. */
import type { Runtime } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { redactError } from '../../http/redact.js';
import type { Route } from '../../http/route.js';
import { withoutFile } from '../../identity/without-file.js';
import { createEventRoutes, type EventLimits } from '../events/event-routes.js';
import { createLogQueue } from '../log-access.js';
import { toOpenApi } from '../shapes/open-api.js';
import type { ApiDependencies } from './api-dependencies.js';
import { createApprovalRoutes } from './approval-routes.js';
import { createCallRoutes } from './call-routes.js';
import { createCatalogRoutes } from './catalog-routes.js';
import { createConfigRoutes } from './config-routes.js';
import { createEnergyRoutes } from './energy-routes.js';
import { createIncidentRoutes } from './incident-routes.js';
import { createPinRoutes } from './pin-routes.js';
import { createProbeRoutes } from './probe-routes.js';
import { createRuleRoutes } from './rule-routes.js';
import { createServerChangeRoutes } from './server-change-routes.js';
import { createServerRoutes } from './server-routes.js';
import { createSignInRoutes } from './sign-in-routes.js';
import { createTokenRoutes } from './token-routes.js';

/** The routes for a server. Their listeners end with the runtime. */
export function createApiRoutes(parts: ApiDependencies, events: EventLimits = {}): readonly Route[] {
  const { configured, tokens, version, otherRoutes = [], partRoutes = [] } = parts;
  const { runtime } = configured;
  const queue = createLogQueue();
  const own: readonly ApiRoute[] = [
    ...createProbeRoutes(parts),
    ...withAnyNames(createServerRoutes(configured)),
    ...withAnyNames(createServerChangeRoutes(parts)),
    ...withAnyNames(createSignInRoutes(configured)),
    ...createCatalogRoutes(configured),
    ...createCallRoutes(parts, queue),
    ...createIncidentRoutes(parts, queue),
    ...createEnergyRoutes(parts, queue),
    ...createApprovalRoutes(runtime, tokens),
    ...createRuleRoutes(configured),
    ...withAnyNames(createPinRoutes(runtime)),
    ...createConfigRoutes(parts),
    ...createTokenRoutes(configured, tokens),
    ...createEventRoutes(parts, events),
    ...partRoutes,
  ];
  const described: ApiRoute = {
    method: 'GET',
    path: '/openapi.json',
    access: 'read',
    summary: 'This OpenAPI document',
    response: z.looseObject({ openapi: z.string() }),
    handle: () => {
      document ??= toOpenApi([...own, described, ...otherRoutes], version);
      return document;
    },
  };
  let document: unknown;
  return [...own, described].map((route) => withRedactedErrors(route, runtime));
}

/** Names of servers and their tools are arbitrary. */
const withAnyNames = (routes: readonly ApiRoute[]): ApiRoute[] =>
  routes.map((route) => ({ ...route, anyNames: true }));

/** An error may quote a server, and with it secrets. */
const withRedactedErrors = (route: ApiRoute, runtime: Pick<Runtime, 'redact'>): ApiRoute => ({
  ...route,
  handle: async (context) => {
    try {
      return await route.handle(context);
    } catch (thrown) {
      const shown = context.identity.access.has('admin') ? thrown : withoutFile(thrown);
      throw redactError(shown, (value) => runtime.redact(value));
    }
  },
});
