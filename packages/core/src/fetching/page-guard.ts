import { parseUrl } from './parse-url.js';
import { createReachRule, type ReachOptions } from './reach.js';
import { refused } from './refusal.js';
import { checkTarget, type Lookup } from './target.js';

/** Resolves when a page may be shown to a person; else rejects with FETCH_REFUSED, or with why its name is unknown. */
export type PageGuard = (url: string) => Promise<void>;

export interface PageGuardOptions extends ReachOptions {
  /** For tests: how a name is resolved. */
  readonly lookup?: Lookup | undefined;
}

/**
 * The rules of `createGuardedFetch` for an address that came from outside and that a browser is sent to: a page of
 * this machine or its network can be a router, a debugger or a program without a password.
 */
export function createPageGuard({ lookup, ...reach }: PageGuardOptions): PageGuard {
  const rules = { reachOf: createReachRule(reach), lookup };
  return async (text) => {
    const url = parseUrl(text);
    if (url === undefined)
      throw refused({ url: undefined, reason: 'url', because: 'it is not a valid address' });
    await checkTarget(url, rules);
  };
}
