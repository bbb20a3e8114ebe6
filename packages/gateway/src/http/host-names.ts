/**
 * The host names that a request may use for this server. With DNS rebinding a web page can point its own name to
 * 127.0.0.1, but the browser still sends that name in the Host header.
 */

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
/** How many spellings are cached; they differ only in port and case. */
const MAX_CACHED_HOSTS = 64;

/** Whether a server that listens on this address is reachable from this machine only. */
export const isLoopback = (address: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i.test(address);

export class HostNames {
  readonly #names: ReadonlySet<string>;
  readonly #cachedHosts = new Set<string>();

  /** Names without port, in addition to the loopback names; an IPv6 address in brackets. */
  constructor(names: readonly string[]) {
    this.#names = new Set([...LOOPBACK, ...names.map((name) => name.toLowerCase())]);
  }

  /** Whether the `Host` header has one of these names; the port is ignored. */
  has(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (this.#cachedHosts.has(host)) return true;
    const name = HOST.exec(host.toLowerCase())?.[1];
    if (name === undefined || !this.#names.has(name)) return false;
    if (this.#cachedHosts.size < MAX_CACHED_HOSTS) this.#cachedHosts.add(host);
    return true;
  }
}
