/** The management API: everything that a person who runs the daemon can see and change, over HTTP. */
import type { Runtime } from 'turnbuckle';
import * as z from 'zod/mini';
import type { Route } from '../http/route.js';
import type { ApiParts } from './api-parts.js';
import type { ApiRoute } from './api-route.js';
import { createApprovalRoutes } from './approval-routes.js';
import { createCallRoutes } from './call-routes.js';
import { createCatalogRoutes } from './catalog-routes.js';
import { cleanError } from './clean.js';
import { createConfigRoutes } from './config-routes.js';
import { createEventRoutes, type EventLimits } from './events/event-routes.js';
import { toOpenApi } from './open-api.js';
import { createPinRoutes } from './pin-routes.js';
import { createProbeRoutes } from './probe-routes.js';
import { createRuleRoutes } from './rule-routes.js';
import { createServerChangeRoutes } from './server-change-routes.js';
import { createServerRoutes } from './server-routes.js';
import { createSignInRoutes } from './sign-in-routes.js';
import { createTokenRoutes } from './token-routes.js';

/** The table for a server. What it listens to ends with the runtime. */
export function createApiRoutes(parts: ApiParts, events: EventLimits = {}): readonly Route[] {
  const { configured, tokens, version, others = [] } = parts;
  const { runtime } = configured;
  const own: readonly ApiRoute[] = [
    ...createProbeRoutes(parts),
    ...byAnyName(createServerRoutes(configured)),
    ...byAnyName(createServerChangeRoutes(parts)),
    ...byAnyName(createSignInRoutes(configured)),
    ...createCatalogRoutes(configured),
    ...createCallRoutes(parts),
    ...createApprovalRoutes(runtime, tokens),
    ...createRuleRoutes(configured),
    ...byAnyName(createPinRoutes(runtime)),
    ...createConfigRoutes(parts),
    ...createTokenRoutes(runtime, tokens),
    ...createEventRoutes(parts, events),
  ];
  const described: ApiRoute = {
    method: 'GET',
    path: '/openapi.json',
    access: 'look',
    summary: 'This description',
    answer: z.looseObject({ openapi: z.string() }),
    handle: () => {
      document ??= toOpenApi([...own, described, ...others], version);
      return document;
    },
  };
  let document: unknown;
  return [...own, described].map((route) => withCleanErrors(route, runtime));
}

/** Servers and their tools have the names that others gave them. */
const byAnyName = (routes: readonly ApiRoute[]): ApiRoute[] =>
  routes.map((route) => ({ ...route, anyNames: true }));

/** What went wrong may quote a server, and that its secrets. */
const withCleanErrors = (route: ApiRoute, runtime: Pick<Runtime, 'redact'>): ApiRoute => ({
  ...route,
  handle: async (visit) => {
    try {
      return await route.handle(visit);
    } catch (thrown) {
      throw cleanError(thrown, (value) => runtime.redact(value));
    }
  },
});
