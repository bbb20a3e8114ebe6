import { type AddressClass, addressClass } from './address-class.js';

/** Which networks a request to one origin may reach: only public ones, also this machine, or any. */
export type NetworkScope = 'public' | 'loopback' | 'anywhere';

export interface NetworkScopeOptions {
  /** Origins from the user's own configuration: they may be internal. Compared by scheme, host and port. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * If an allowed origin is itself on this machine (by its host as written), other ports of this machine may be
   * reached too: a developer's authorization server usually runs next to the server. No other internal address is
   * opened.
   */
  readonly localServerMayReach?: 'loopback' | undefined;
}

/** Creates the rule for which networks each URL may reach. Throws TypeError for an allowed origin that is not a URL. */
export function createNetworkScopeRule(options: NetworkScopeOptions): (url: URL) => NetworkScope {
  const allowed = (options.allowedOrigins ?? []).map((text) => new URL(text));
  const origins = new Set(allowed.map((url) => url.origin));
  const besideServer =
    options.localServerMayReach === 'loopback' && allowed.some((url) => isLoopbackHost(url.hostname));
  return (url) => {
    if (origins.has(url.origin)) return 'anywhere';
    // The host as written, not what it resolves to: an external name must not open this machine.
    return besideServer && isLoopbackHost(url.hostname) ? 'loopback' : 'public';
  };
}

/** True if an address of this class is allowed. */
export function isInScope(reach: NetworkScope, found: AddressClass): boolean {
  if (found === 'invalid') return false;
  return reach === 'anywhere' || found === reach;
}

/** `localhost` and its subdomains: this machine, whatever a resolver returns. */
export function isLocalhostName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost');
}

/** True if a host, as written, is this machine or an internal address. A name may still resolve to one. */
export function isInternalHost(hostname: string): boolean {
  if (isLocalhostName(hostname)) return true;
  const found = addressClass(bareHost(hostname));
  return found !== 'public' && found !== 'invalid';
}

export function isLoopbackHost(hostname: string): boolean {
  return isLocalhostName(hostname) || addressClass(bareHost(hostname)) === 'loopback';
}

/** A URL's host in the form that sockets expect: without the brackets of an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
