import { setTimeout as delay } from 'node:timers/promises';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type JsonObject, toObject } from '../kernel/json.js';

/** The routes of an authorization server. */
export type Route = 'metadata' | 'authorize' | 'token' | 'register' | 'revoke' | 'device' | 'other';

/** Changes the behaviour of a route. `before` may send the response itself (true); `after` may change the response. */
export interface Fault {
  before?(context: KoaContextWithOIDC): boolean | Promise<boolean>;
  after?(context: KoaContextWithOIDC): void | Promise<void>;
}

/** Changes the JSON response; a string is sent unchanged. */
export const altering = (change: (answer: JsonObject) => JsonObject | string): Fault => ({
  after(context) {
    const answer = change(toObject(context.body));
    context.body = answer;
    context.type = 'application/json';
  },
});

/** Responds with this status and a useless body. */
export const failing = (status: number): Fault => ({
  before(context) {
    context.status = status;
    context.body = 'not now';
    return true;
  },
});

/** Redirects to another URL, with the method and body of the request (307). */
export const redirecting = (location: string): Fault => ({
  before(context) {
    context.status = 307;
    context.set('location', location);
    return true;
  },
});

export const slow = (ms: number): Fault => ({
  async before() {
    await delay(ms);
    return false;
  },
});

export interface PausingFault extends Fault {
  /** How many requests were paused so far. */
  readonly count: number;
  /** How many of their senders have disconnected. */
  readonly abandoned: number;
  /** Resumes the paused requests, and lets later ones pass. */
  release(): void;
}

/** Pauses requests before or after their effect; a request whose sender has disconnected has no effect. */
export function pausing(when: 'before' | 'after'): PausingFault {
  const stopped: KoaContextWithOIDC[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hold = async (context: KoaContextWithOIDC): Promise<void> => {
    stopped.push(context);
    await released;
  };
  return {
    get count() {
      return stopped.length;
    },
    get abandoned() {
      return stopped.filter(({ req }) => req.socket.destroyed).length;
    },
    release: () => release(),
    async before(context) {
      if (when === 'before') await hold(context);
      return context.req.socket.destroyed;
    },
    async after(context) {
      if (when === 'after') await hold(context);
    },
  };
}

/** Redirects the browser back with another `iss`; undefined: without `iss`. */
export const callbackIssuer = (issuer: string | undefined): Fault => ({
  after(context) {
    const location = context.response.get('location');
    if (!URL.canParse(location)) return;
    const back = new URL(location);
    if (!back.searchParams.has('iss')) return;
    back.searchParams.delete('iss');
    if (issuer !== undefined) back.searchParams.set('iss', issuer);
    context.set('location', back.href);
  },
});
