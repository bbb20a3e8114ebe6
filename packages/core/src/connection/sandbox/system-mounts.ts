/** The part of the system that every program needs to read: programs, libraries, names, certificates. */
import { readlink } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Mount } from './mount.js';

/** On most systems, links into /usr. */
const ROOTS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

const TREES = ['/usr', '/nix/store', '/gnu/store', '/run/current-system'];

/** Chosen one by one: /etc contains keys too. */
const SETTINGS = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'gai.conf',
  'group',
  'host.conf',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.conf',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki/ca-trust',
  'pki/tls/certs',
  'pki/tls/cert.pem',
  'pki/tls/openssl.cnf',
  'protocols',
  'resolv.conf',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'timezone',
];

const optionalMount = (path: string): Mount => ({ kind: 'read', source: path, target: path, optional: true });

export async function systemMounts(): Promise<Mount[]> {
  const roots = await Promise.all(
    ROOTS.map(async (target): Promise<Mount> => {
      const to = await readlink(target).catch(() => undefined);
      return to === undefined || isAbsolute(to) ? optionalMount(target) : { kind: 'link', target, to };
    }),
  );
  return [...TREES.map(optionalMount), ...roots, ...SETTINGS.map((name) => optionalMount(`/etc/${name}`))];
}

/** True for paths that are in every sandbox because they belong to the system's programs. */
export const isSystemPath = (path: string): boolean =>
  [...ROOTS, ...TREES].some((tree) => path === tree || path.startsWith(`${tree}/`));
