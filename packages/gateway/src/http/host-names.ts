/**
 * The names under which a request may address this server. A web page can make a browser believe that its own
 * name is at 127.0.0.1, but the browser then still sends that name.
 */

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
/** How many spellings are remembered; they differ only by port and case. */
const MAX_REMEMBERED = 64;

/** Whether what listens at this address is reached from this machine only. */
export const isLoopback = (address: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i.test(address);

export class HostNames {
  readonly #names: ReadonlySet<string>;
  readonly #remembered = new Set<string>();

  /** Names without port, beyond the loopback ones; an IPv6 address in brackets. */
  constructor(names: readonly string[]) {
    this.#names = new Set([...LOOPBACK, ...names.map((name) => name.toLowerCase())]);
  }

  /** Whether the header `Host` has one of them; the port does not matter. */
  has(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (this.#remembered.has(host)) return true;
    const name = HOST.exec(host.toLowerCase())?.[1];
    if (name === undefined || !this.#names.has(name)) return false;
    if (this.#remembered.size < MAX_REMEMBERED) this.#remembered.add(host);
    return true;
  }
}
