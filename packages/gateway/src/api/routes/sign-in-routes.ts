/** Signing in at a server: begun here, finished by a person in a browser. */
import type { ConfiguredRuntime } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from './api-route.js';
import { cleanTexts, faultFor } from './clean.js';
import { readBody } from './fit.js';
import { notThere } from './not-there.js';
import { readerOf } from './server-shape.js';
import { ServerView } from './server-view.js';
import { FAULT } from './shapes.js';
import { SignInDesk } from './sign-in-desk.js';

const BEGIN_BODY = z.strictObject({
  /** `browser`: it comes back to this machine; `paste`: with the address it ended at; `device`: with a code. */
  method: z.optional(z.enum(['browser', 'paste', 'device'])),
  scopes: z.optional(z.array(z.string().check(z.minLength(1))).check(z.maxLength(100))),
  force: z.optional(z.boolean()),
  /** Ends a sign-in by `paste`: the address that the browser ended at. */
  address: z.optional(z.string().check(z.minLength(1), z.maxLength(16_384))),
});
const BEGUN = z.object({
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
  /** Since when a sign-in is under way. */
  waitingSince: z.optional(z.string()),
  /** Why the last one failed. */
  failure: z.optional(FAULT),
});

export function createSignInRoutes(configured: ConfiguredRuntime): readonly ApiRoute[] {
  const { runtime } = configured;
  const view = new ServerView(configured);
  const desk = new SignInDesk(runtime);
  const path = '/api/servers/:name/sign-in';
  return [
    {
      method: 'GET',
      path,
      access: 'look',
      summary: 'Whether somebody is signed in at a server, and until when',
      answer: STATUS,
      handle: async (visit) => {
        const name = view.nameOf(visit);
        const since = desk.startedAt(name);
        const status = {
          ...(await runtime.signInStatus(name)),
          waitingSince: since === undefined ? undefined : new Date(since).toISOString(),
          failure: faultFor(desk.failureOf(name), readerOf(visit)),
        };
        return cleanTexts(status, runtime);
      },
    },
    {
      method: 'POST',
      path,
      access: 'manage',
      summary: 'Begin a sign-in; answers the page for a person to open',
      body: BEGIN_BODY,
      answer: BEGUN,
      handle: async (visit) => {
        const name = view.nameOf(visit);
        const { address, ...asked } = await readBody(visit, BEGIN_BODY);
        if (address === undefined) return desk.begin(name, asked, visit.visitor.ended);
        if (desk.paste(name, address)) return { state: 'waiting' };
        throw notThere(`No sign-in at "${name}" waits for an address.`, 'Begin one with the method "paste".');
      },
    },
    {
      method: 'DELETE',
      path,
      access: 'manage',
      summary: 'Give up a sign-in under way, or sign out',
      answer: z.object({ cancelled: z.boolean(), found: z.boolean(), revoked: z.boolean() }),
      handle: async (visit) => {
        const name = view.nameOf(visit);
        if (desk.cancel(name)) return { cancelled: true, found: false, revoked: false };
        return { cancelled: false, ...(await runtime.signOut(name)) };
      },
    },
  ];
}
