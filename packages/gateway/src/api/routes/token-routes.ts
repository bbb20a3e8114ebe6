/** The tokens of this daemon. */
import type { Runtime } from 'turnbuckle';
import * as z from 'zod/mini';
import { readJson } from '../http/body.js';
import { grantBy } from '../tokens/token-grant.js';
import { ACCESS } from '../tokens/token-record.js';
import type { ApiParts } from './api-parts.js';
import type { ApiRoute } from './api-route.js';
import { notThere } from './not-there.js';
import { requireWhole } from './sight.js';

const FACTS = z.object({
  name: z.string(),
  can: z.array(z.string()),
  access: z.array(z.enum(ACCESS)),
  createdAt: z.string(),
  expiresAt: z.optional(z.string()),
  lastUsedAt: z.optional(z.string()),
  /** The token that made it, or from which its maker comes. */
  root: z.optional(z.string()),
});
const CREATE_BODY = z.strictObject({
  name: z.string(),
  /** Capabilities of its bearer, such as mcp_github; mcp_integration for all. */
  can: z.array(z.string()),
  access: z.array(z.enum(ACCESS)),
  /** ISO 8601; absent: as long as the token that makes it. */
  expires: z.optional(z.iso.datetime({ offset: true })),
});

export function createTokenRoutes(runtime: Runtime, tokens: ApiParts['tokens']): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/tokens',
      access: 'look',
      summary: 'The tokens there are; none of them is shown',
      answer: z.object({ tokens: z.array(FACTS) }),
      handle: (visit) => {
        requireWhole(runtime, visit);
        return { tokens: tokens.list() };
      },
    },
    {
      method: 'POST',
      path: '/api/tokens',
      access: 'manage',
      summary: 'Make a token, for no more than your own is good for; it is told once, in this answer',
      body: CREATE_BODY,
      answer: z.object({ token: z.string(), facts: FACTS }),
      handle: async (visit) => {
        requireWhole(runtime, visit);
        const { name, can, access, expires } = await readJson(visit, CREATE_BODY);
        const expiresAt = expires === undefined ? undefined : new Date(expires);
        return tokens.create(grantBy(visit.visitor, { name, can, access, expiresAt }), () => visit.confirm());
      },
    },
    {
      method: 'DELETE',
      path: '/api/tokens/:name',
      access: 'manage',
      summary: "Revoke a token; the owner's own is replaced by another one",
      answer: z.object({ revoked: z.string() }),
      handle: async (visit) => {
        requireWhole(runtime, visit);
        const { name = '' } = visit.parameters;
        if (await tokens.revoke(name, () => visit.confirm())) return { revoked: name };
        throw notThere(`There is no token named "${name}".`, 'GET /api/tokens lists those that there are.');
      },
    },
  ];
}
