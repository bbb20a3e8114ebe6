import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { addressClass } from './address-class.js';
import { fetchRefused } from './fetch-refused.js';
import { bareHost, isInScope, isLocalhostName, type NetworkScope } from './network-scope.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** One checked hop: where to connect, and nowhere else. */
export interface Target {
  readonly url: URL;
  readonly hostname: string;
  readonly port: number;
  readonly scope: NetworkScope;
  readonly addresses: readonly ResolvedAddress[];
}

export interface TargetRules {
  readonly scopeOf: (url: URL) => NetworkScope;
  readonly lookup?: Lookup | undefined;
}

const LOCALHOST: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const MAX_ADDRESSES = 8;

/** Checks a URL and every address of its host; the returned target may be connected to. Throws FETCH_REFUSED. */
export async function checkTarget(url: URL, rules: TargetRules): Promise<Target> {
  const scope = rules.scopeOf(url);
  checkUrl(url, scope);
  const hostname = bareHost(url.hostname);
  const addresses = await addressesOf(hostname, rules.lookup ?? systemLookup);
  for (const { address } of addresses) {
    const found = addressClass(address);
    if (isInScope(scope, found)) continue;
    throw fetchRefused({
      url,
      reason: 'address',
      because: `it resolves to an address that is not allowed (${found})`,
    });
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  return { url, hostname, port, scope, addresses: addresses.slice(0, MAX_ADDRESSES) };
}

function checkUrl(url: URL, reach: NetworkScope): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw fetchRefused({ url, reason: 'scheme', because: 'only https addresses are allowed' });
  }
  if (url.username !== '' || url.password !== '') {
    throw fetchRefused({ url, reason: 'credentials', because: 'it contains a user name or password' });
  }
  if (url.protocol === 'http:' && reach === 'public') {
    throw fetchRefused({
      url,
      reason: 'scheme',
      because: 'plain http is allowed only for origins in the configuration',
    });
  }
}

async function addressesOf(hostname: string, lookup: Lookup): Promise<readonly ResolvedAddress[]> {
  const literal = isIP(hostname);
  if (literal !== 0) return [{ address: hostname, family: literal }];
  if (isLocalhostName(hostname)) return LOCALHOST;
  const answers = await lookup(hostname);
  if (answers.length === 0) throw new Error('The host name does not resolve to an address.');
  return answers.map(({ address }) => ({ address, family: isIP(address) }));
}

const systemLookup: Lookup = (hostname) => dnsLookup(hostname, { all: true });
