import { fetchRefused } from './fetch-refused.js';
import { createNetworkScopeRule, type NetworkScopeOptions } from './network-scope.js';
import { parseUrl } from './parse-url.js';
import { checkTarget, type Lookup } from './target.js';

/**
 * Resolves if a page may be shown to a person; otherwise rejects with FETCH_REFUSED, or with the lookup error of its
 * name.
 */
export type PageGuard = (url: string) => Promise<void>;

export interface PageGuardOptions extends NetworkScopeOptions {
  /** For tests: resolves a name. */
  readonly lookup?: Lookup | undefined;
}

/**
 * Applies the rules of `createGuardedFetch` to an untrusted address that a browser is sent to: a page on this machine
 * or in its network can be a router, a debugger or a program without a password.
 */
export function createPageGuard({ lookup, ...scope }: PageGuardOptions): PageGuard {
  const rules = { scopeOf: createNetworkScopeRule(scope), lookup };
  return async (text) => {
    const url = parseUrl(text);
    if (url === undefined)
      throw fetchRefused({ url: undefined, reason: 'url', because: 'it is not a valid address' });
    await checkTarget(url, rules);
  };
}
