import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { addressClass } from './address-class.js';
import { bareHost, isLocalhostName, isWithin, type Reach } from './reach.js';
import { refused } from './refusal.js';

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
  readonly reach: Reach;
  readonly addresses: readonly ResolvedAddress[];
}

export interface TargetRules {
  readonly reachOf: (url: URL) => Reach;
  readonly lookup?: Lookup | undefined;
}

const LOCALHOST: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const MOST_ADDRESSES = 8;

/** Checks a URL and every address of its host; what it returns may be connected to. Throws FETCH_REFUSED. */
export async function checkTarget(url: URL, rules: TargetRules): Promise<Target> {
  const reach = rules.reachOf(url);
  checkUrl(url, reach);
  const hostname = bareHost(url.hostname);
  const addresses = await addressesOf(hostname, rules.lookup ?? systemLookup);
  for (const { address } of addresses) {
    const found = addressClass(address);
    if (isWithin(reach, found)) continue;
    throw refused({ url, reason: 'address', because: `it leads to an address that is ${found}, not public` });
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  return { url, hostname, port, reach, addresses: addresses.slice(0, MOST_ADDRESSES) };
}

function checkUrl(url: URL, reach: Reach): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refused({ url, reason: 'scheme', because: 'only https addresses are fetched' });
  }
  if (url.username !== '' || url.password !== '') {
    throw refused({ url, reason: 'credentials', because: 'it has a user name or password in it' });
  }
  if (url.protocol === 'http:' && reach === 'public') {
    throw refused({ url, reason: 'scheme', because: 'plain http is only for origins of the configuration' });
  }
}

async function addressesOf(hostname: string, lookup: Lookup): Promise<readonly ResolvedAddress[]> {
  const literal = isIP(hostname);
  if (literal !== 0) return [{ address: hostname, family: literal }];
  if (isLocalhostName(hostname)) return LOCALHOST;
  const answers = await lookup(hostname);
  if (answers.length === 0) throw new Error('The name has no address.');
  return answers.map(({ address }) => ({ address, family: isIP(address) }));
}

const systemLookup: Lookup = (hostname) => dnsLookup(hostname, { all: true });
