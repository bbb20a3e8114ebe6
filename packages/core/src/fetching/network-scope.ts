import { type AddressClass, addressClass } from './address-class.js';

/** How far a request to one origin may lead: only out, also to this machine, or wherever its name points. */
export type Reach = 'public' | 'loopback' | 'anywhere';

export interface ReachOptions {
  /** Origins that the user's own configuration names: they may lead inside. Compared by scheme, host and port. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * If an allowed origin is itself on this machine (by its host as written), other ports of this machine may be
   * reached too: a developer's authorization server usually runs beside the server. Nothing else inside opens.
   */
  readonly insideIfServerInside?: 'loopback' | undefined;
}

/** Makes the rule that says how far each URL may lead. Throws TypeError for an allowed origin that is no URL. */
export function createReachRule(options: ReachOptions): (url: URL) => Reach {
  const allowed = (options.allowedOrigins ?? []).map((text) => new URL(text));
  const origins = new Set(allowed.map((url) => url.origin));
  const besideServer =
    options.insideIfServerInside === 'loopback' && allowed.some((url) => isLoopbackHost(url.hostname));
  return (url) => {
    if (origins.has(url.origin)) return 'anywhere';
    // The host as written, not what it resolves to: a name from outside must not lead here.
    return besideServer && isLoopbackHost(url.hostname) ? 'loopback' : 'public';
  };
}

/** True if an address of this class is within reach. */
export function isWithin(reach: Reach, found: AddressClass): boolean {
  if (found === 'invalid') return false;
  return reach === 'anywhere' || found === reach;
}

/** `localhost` and names below it: this machine, whatever a resolver says. */
export function isLocalhostName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost');
}

/** True when a host, as written, is this machine or an address inside some network. A name may still lead there. */
export function isInsideHost(hostname: string): boolean {
  if (isLocalhostName(hostname)) return true;
  const found = addressClass(bareHost(hostname));
  return found !== 'public' && found !== 'invalid';
}

export function isLoopbackHost(hostname: string): boolean {
  return isLocalhostName(hostname) || addressClass(bareHost(hostname)) === 'loopback';
}

/** A URL's host as sockets want it: without the brackets of an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
