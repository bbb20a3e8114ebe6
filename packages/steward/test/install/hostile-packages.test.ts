import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RegistryPackage, RunningNpmRegistry } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStage, listTree, npmRecord, tinyPackage } from './stage.js';

/** Counts who comes along: nobody has to. */
let visits = 0;
const elsewhere = createServer((_, response) => {
  visits += 1;
  response.end('x');
});
const address = (): string => `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
beforeAll(() => new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve)));
afterAll(() => void elsewhere.close());

const dependsOn = (spec: string): RegistryPackage =>
  tinyPackage({ manifest: { dependencies: { other: spec } } });
/** A dependency of a dependency: nobody sees it in the record. */
const indirect = (spec: string): RegistryPackage[] => [
  { name: 'middle', version: '1.0.0', manifest: { dependencies: { other: spec } } },
  tinyPackage({ manifest: { dependencies: { middle: '1.0.0' } } }),
];
type Case = readonly [
  what: string,
  reason: string,
  packages: () => readonly RegistryPackage[],
  arrange?: (registry: RunningNpmRegistry) => void,
];

const CASES: readonly Case[] = [
  [
    'an integrity that is wrong',
    'does not match its integrity',
    () => [tinyPackage({ dist: { integrity: `sha512-${'A'.repeat(86)}==` } })],
  ],
  ['no integrity', 'no SHA-512 integrity', () => [tinyPackage({ dist: { integrity: undefined } })]],
  [
    'a tarball that was swapped',
    'does not match its integrity',
    () => [tinyPackage()],
    (registry) => registry.swapTarball(tinyPackage({ files: { 'bin/server.js': 'evil()' } })),
  ],
  [
    'another version in the document',
    'has no version 1.2.3',
    () => [tinyPackage({ published: { version: '1.2.4' } })],
  ],
  [
    'a tarball elsewhere',
    'is not in the registry but at',
    () => [tinyPackage({ dist: { tarball: `${address()}/x.tgz` } })],
  ],
  [
    'a tarball elsewhere, of a dependency',
    'is not in the registry but at',
    () => [{ name: 'other', version: '1.0.0', dist: { tarball: `${address()}/x.tgz` } }, dependsOn('1.0.0')],
  ],
  [
    'a redirect',
    'redirects',
    () => [tinyPackage()],
    (registry) => registry.redirect('/@acme/server-tiny', `${address()}/x`),
  ],
  [
    'a redirect of the tarball',
    'redirects',
    () => [tinyPackage()],
    (registry) => registry.redirect('/@acme/server-tiny/-/', `${address()}/x`),
  ],
  ['a dependency from git', 'depends on other (git+ssh:', () => [dependsOn('git+ssh://git@127.0.0.1/x.git')]],
  ['a dependency from a repository', 'depends on other (user/repo', () => [dependsOn('user/repo')]],
  ['a dependency from a file', 'depends on other (file:', () => [dependsOn('file:../../../../..')]],
  ['a dependency from an address', 'depends on other (http:', () => [dependsOn(`${address()}/x.tgz`)]],
  [
    'an indirect dependency from git',
    'npm could not install',
    () => indirect('git+http://127.0.0.1:9/x.git'),
  ],
  [
    'an indirect dependency from a file',
    'npm could not install|file or directory on this machine',
    () => indirect('file:../../../..'),
  ],
  [
    'an indirect dependency from an address',
    'which is not the npm registry',
    () => indirect(`${address()}/x.tgz`),
  ],
  [
    'a dependency that is known as bad',
    'CVE-2025-6514',
    () => [
      { name: 'mcp-remote', version: '0.1.15' },
      tinyPackage({ manifest: { dependencies: { 'mcp-remote': '*' } } }),
    ],
  ],
];

// requirement E4
describe('hostile packages are refused, and leave nothing', () => {
  it.each(CASES.map(([what, ...rest]) => ({ what, rest })))('$what', async ({ rest }) => {
    const [reason, packages, arrange] = rest;
    const { home, root, registry, whyRefused } = await createStage(packages());
    arrange?.(registry);
    const before = listTree(home.path);
    expect(await whyRefused(npmRecord('@acme/server-tiny', '1.2.3'))).toMatch(
      new RegExp(reason.replace(/[.+()]/g, '\\$&')),
    );
    const after = listTree(home.path).filter((line) => !root.endsWith(line.split(' ')[0] ?? ''));
    expect(after).toEqual(before);
    expect(visits).toBe(0);
  });
});
