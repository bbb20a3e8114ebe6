import { setTimeout as delay } from 'node:timers/promises';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { type JsonObject, toObject } from '../kernel/json.js';

/** What an authorization server is asked for. */
export type Route = 'metadata' | 'authorize' | 'token' | 'register' | 'revoke' | 'device' | 'other';

/** Changes what a route does. `before` may answer itself (true); `after` sees the answer and may change it. */
export interface Fault {
  before?(context: KoaContextWithOIDC): boolean | Promise<boolean>;
  after?(context: KoaContextWithOIDC): void | Promise<void>;
}

/** The JSON answer is changed; a text is sent as it is. */
export const altered = (change: (answer: JsonObject) => JsonObject | string): Fault => ({
  after(context) {
    const answer = change(toObject(context.body));
    context.body = answer;
    context.type = 'application/json';
  },
});

/** Answers with this status and nothing of use. */
export const failing = (status: number): Fault => ({
  before(context) {
    context.status = status;
    context.body = 'not now';
    return true;
  },
});

/** Sends whoever asks to another address, with the method and the body of the request (307). */
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

export interface Held extends Fault {
  /** How many requests were stopped here so far. */
  readonly count: number;
  /** How many of them nobody waits for any more. */
  readonly abandoned: number;
  /** Lets them go on, and all later ones. */
  release(): void;
}

/** Stops requests before or after they have had their effect; those whose sender has gone have none. */
export function held(when: 'before' | 'after'): Held {
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

/** The browser is sent back with another `iss`; undefined: with none. */
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
