/** The tokens of this daemon. */

import { ACCESS, ACCESS_SCHEMA } from 'turnbuckle/host';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { readJson } from '../../http/validate.js';
import { type KnownWords, limitGrant } from '../../tokens/token-grant.js';
import { notFound } from '../shapes/not-found.js';
import { requireUnrestricted } from '../visibility.js';
import type { ApiDependencies } from './api-dependencies.js';

const FACTS = z.object({
  name: z.string(),
  can: z.array(z.string()),
  access: z.array(z.enum(ACCESS)),
  createdAt: z.string(),
  expiresAt: z.optional(z.string()),
  lastUsedAt: z.optional(z.string()),
  /** The root: the token that created it, or that one's root. */
  root: z.optional(z.string()),
});
const CREATE_BODY = z.strictObject({
  name: z.string(),
  /** Capabilities of its bearer, such as mcp_github; mcp_integration for all. */
  can: z.array(z.string()),
  access: z.array(ACCESS_SCHEMA),
  /** ISO 8601; absent: the same as the token that creates it. */
  expires: z.optional(z.iso.datetime({ offset: true })),
});

export function createTokenRoutes(
  configured: ApiDependencies['configured'],
  tokens: ApiDependencies['tokens'],
): readonly ApiRoute[] {
  const { runtime } = configured;
  return [
    {
      method: 'GET',
      path: '/api/tokens',
      access: 'read',
      summary: 'List tokens, without their values',
      response: z.object({ tokens: z.array(FACTS) }),
      handle: (context) => {
        requireUnrestricted(runtime, context);
        return { tokens: tokens.list() };
      },
    },
    {
      method: 'POST',
      path: '/api/tokens',
      access: 'admin',
      summary: 'Create a token with no more rights than your own; its value is returned only once',
      body: CREATE_BODY,
      response: z.object({ token: z.string(), facts: FACTS }),
      handle: async (context) => {
        requireUnrestricted(runtime, context);
        const { name, can, access, expires } = await readJson(context, CREATE_BODY);
        const expiresAt = expires === undefined ? undefined : new Date(expires);
        const wanted = { name, can, access, expiresAt };
        const granted = limitGrant(context.identity, wanted, knownWords(configured));
        return tokens.create(granted, () => context.requireActiveToken());
      },
    },
    {
      method: 'DELETE',
      path: '/api/tokens/:name',
      access: 'admin',
      summary: "Revoke a token; revoking the owner's token replaces it with a new one",
      response: z.object({ revoked: z.string() }),
      handle: async (context) => {
        requireUnrestricted(runtime, context);
        const { name = '' } = context.parameters;
        if (await tokens.revoke(name, () => context.requireActiveToken())) return { revoked: name };
        throw notFound(`There is no token named "${name}".`, 'List tokens: GET /api/tokens.');
      },
    },
  ];
}

function knownWords({ runtime, config }: ApiDependencies['configured']): KnownWords {
  const servers = new Set([...runtime.serverNames(), 'native']);
  const required = [...config().parsed.servers.values()].flatMap(({ requires }) =>
    Object.values(requires).flat(),
  );
  const native = runtime.catalog.listByServer('native').map(({ tool }) => runtime.catalog.nativeTool(tool));
  const separate = new Set([...required, ...native.map((tool) => tool?.capability)]);
  return { hasServer: (name) => servers.has(name), isSeparate: (word) => separate.has(word) };
}
