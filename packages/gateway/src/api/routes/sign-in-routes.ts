/** Sign-in to a server: started here, completed by a person in a browser. */
import { type ConfiguredRuntime, TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { errorDataFor, redactTexts } from '../../http/redact.js';
import type { RequestContext } from '../../http/request-context.js';
import { readOptionalJson, readQuery } from '../../http/validate.js';
import { PendingSignIns, type SignInTarget } from '../pending-sign-ins.js';
import { ServerLookup } from '../servers/server-lookup.js';
import { notFound } from '../shapes/not-found.js';
import { readerAccessOf } from '../shapes/server-shape.js';
import { FAULT } from '../shapes/shapes.js';

const BEGIN_BODY = z.strictObject({
  /** `browser`: redirects to this machine; `paste`: with the address the browser ended at; `device`: with a code. */
  method: z.optional(z.enum(['browser', 'paste', 'device'])),
  scopes: z.optional(z.array(z.string().check(z.minLength(1))).check(z.maxLength(100))),
  force: z.optional(z.boolean()),
  /** Completes a sign-in with `paste`: the address that the browser ended at. */
  address: z.optional(z.string().check(z.minLength(1), z.maxLength(16_384))),
});
const QUERY = z.strictObject({
  /** The agent whose account it is, if it has a sign-in of its own at the server. */
  agent: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
});
const PROGRESS = z.object({
  state: z.enum(['waiting', 'done']),
  url: z.optional(z.string()),
  code: z.optional(z.string()),
});
const STATUS = z.object({
  server: z.string(),
  type: z.string(),
  signedIn: z.boolean(),
  account: z.optional(z.string()),
  issuer: z.optional(z.string()),
  scope: z.optional(z.string()),
  expiresAt: z.optional(z.string()),
  renewable: z.optional(z.boolean()),
  /** When the pending sign-in was started. */
  waitingSince: z.optional(z.string()),
  /** Why the last one failed. */
  failure: z.optional(FAULT),
});

export function createSignInRoutes(configured: ConfiguredRuntime): readonly ApiRoute[] {
  const { runtime } = configured;
  const view = new ServerLookup(configured);
  const pending = new PendingSignIns(runtime);
  const path = '/api/servers/:name/sign-in';
  const targetOf = (context: RequestContext): SignInTarget => ({
    server: view.nameOf(context),
    agent: readQuery(context, QUERY).agent,
  });
  return [
    {
      method: 'GET',
      path,
      access: 'read',
      summary: 'Show the sign-in status for a server, and when its credentials expire',
      query: QUERY,
      response: STATUS,
      handle: async (context) => {
        const target = targetOf(context);
        requireOwnAgent(target, context);
        const since = pending.startedAt(target);
        const status = {
          ...(await runtime.signInStatus(target.server, target)),
          waitingSince: since === undefined ? undefined : new Date(since).toISOString(),
          failure: errorDataFor(pending.failureOf(target), readerAccessOf(context)),
        };
        return redactTexts(status, runtime);
      },
    },
    {
      method: 'POST',
      path,
      access: 'admin',
      summary: 'Start a sign-in; returns the URL to open in a browser',
      query: QUERY,
      body: BEGIN_BODY,
      response: PROGRESS,
      handle: async (context) => {
        const target = targetOf(context);
        const { address, ...asked } = await readOptionalJson(context, BEGIN_BODY);
        if (address === undefined) return pending.begin(target, asked, context.identity.ended);
        if (pending.paste(target, address)) return { state: 'waiting' };
        throw nothingToPaste(target);
      },
    },
    {
      method: 'DELETE',
      path,
      access: 'admin',
      summary: 'Cancel a pending sign-in, or sign out',
      query: QUERY,
      response: z.object({ cancelled: z.boolean(), found: z.boolean(), revoked: z.boolean() }),
      handle: async (context) => {
        const target = targetOf(context);
        if (pending.cancel(target)) return { cancelled: true, found: false, revoked: false };
        return { cancelled: false, ...(await runtime.signOut(target.server, target)) };
      },
    },
  ];
}

const nothingToPaste = ({ server }: SignInTarget): TurnbuckleError =>
  notFound(
    `No sign-in to server "${server}" is waiting for a pasted URL.`,
    'Start a sign-in with "method": "paste".',
  );

/** A token that only reads sees the account of its own caller. */
function requireOwnAgent({ agent }: SignInTarget, context: RequestContext): void {
  if (agent === undefined || agent === context.caller.id || readerAccessOf(context).isManager) return;
  throw new TurnbuckleError('ACCESS_DENIED', "This token is not allowed to see another agent's account.", {
    hint: 'Use a token with "admin" access.',
  });
}
