/**
 * Whether the namespace of a server belongs to the place that it runs or is developed at. A registry checks who publishes
 * to a namespace; this checks that the record does not lead elsewhere.
 */
import type { ServerRecord } from './server-record.js';

/** `domain`: its remotes or its source are on the domain of the namespace. `owner`: its source is the user's. */
export type Verification = 'domain' | 'owner';

/** Namespaces of users of a forge. */
const FORGES: Readonly<Record<string, string>> = {
  'io.github': 'github.com',
  'io.gitlab': 'gitlab.com',
  'com.github': 'github.com',
  'com.gitlab': 'gitlab.com',
};
/** Anybody can have a repository on these. */
const SHARED_HOSTS = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org', 'git.sr.ht']);

/** Undefined: nothing confirms the namespace. */
export function verificationOf(record: ServerRecord): Verification | undefined {
  const [namespace = ''] = record.name.toLowerCase().split('/');
  const labels = namespace.split('.');
  if (labels.length < 2 || labels.some((label) => label === '')) return undefined;
  const forge = FORGES[labels.slice(0, 2).join('.')];
  if (forge !== undefined && labels.length === 3)
    return isOwnedBy(record, forge, labels[2]) ? 'owner' : undefined;
  const domain = labels.toReversed().join('.');
  return isOnDomain(record, domain) ? 'domain' : undefined;
}

function isOwnedBy({ repository }: ServerRecord, forge: string, user: string | undefined): boolean {
  const url = parseAddress(repository?.url);
  if (url === undefined || url.hostname.replace(/^www\./, '') !== forge) return false;
  const [, owner = ''] = url.pathname.toLowerCase().split('/');
  return owner === user;
}

/** All of its remotes, since one elsewhere would be trusted like the others; without remotes, its repository. */
function isOnDomain({ remotes, repository }: ServerRecord, domain: string): boolean {
  const isWithin = (text: string | undefined): boolean => {
    const hostname = parseAddress(text)?.hostname ?? '';
    return hostname === domain || hostname.endsWith(`.${domain}`);
  };
  if (remotes.length > 0) return remotes.every(({ url }) => isWithin(url));
  return !SHARED_HOSTS.has(domain) && isWithin(repository?.url);
}

/** Only `https`, without a user name; a variable in the host could become any host. */
function parseAddress(text: string | undefined): URL | undefined {
  if (text === undefined || /^https:\/\/[^/?#]*[{}]/i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : undefined;
}
