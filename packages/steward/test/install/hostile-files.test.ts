import type { RegistryPackage } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { createStage, listTree, npmRecord, tinyPackage } from './stage.js';

const entry = (path: string, more = {}): RegistryPackage =>
  tinyPackage({ entries: [{ path, content: 'x', ...more }] });
const bin = (path: string, files = {}): RegistryPackage =>
  tinyPackage({ files, manifest: { bin: { 'server-tiny': path } } });

type Case = readonly [what: string, reason: string, packages: () => readonly RegistryPackage[]];

const CASES: readonly Case[] = [
  ['an entry above its directory', 'outside its directory', () => [entry('package/../../../escaped')]],
  ['an absolute entry', 'outside its directory', () => [entry('/tmp/turnbuckle-escaped')]],
  ['a symbolic link', 'which is a link', () => [entry('package/link', { type: '2', target: '/etc/passwd' })]],
  ['a hard link', 'which is a link', () => [entry('package/link', { type: '1', target: '/etc/passwd' })]],
  ['a device', 'neither a regular file nor a directory', () => [entry('package/device', { type: '3' })]],
  [
    'very many files',
    'has more than 50000 files',
    () => [tinyPackage({ entries: Array.from({ length: 50_001 }, (_, at) => ({ path: `package/${at}` })) })],
  ],
  ['a program outside its package', 'is outside the package', () => [bin('../../../../../bin/sh')]],
  ['an absolute program', 'is outside the package', () => [bin('/bin/sh')]],
  ['a program that it does not have', 'is not a file in the package', () => [bin('missing.js')]],
  [
    'a program that is not JavaScript',
    'is not JavaScript',
    () => [bin('run.sh', { 'run.sh': '#!/bin/sh\n' })],
  ],
  [
    'another program than published',
    'differs from the one in the registry',
    () => [
      tinyPackage({
        files: { 'a.js': '', 'b.js': '' },
        manifest: { bin: 'a.js' },
        published: { bin: 'b.js' },
      }),
    ],
  ],
  ['no program', 'has no program', () => [tinyPackage({ manifest: { bin: {} } })]],
];

// requirement E4
describe('packages with hostile files are refused, and leave nothing', () => {
  it.each<Case>(CASES)('%s', async (...[, reason, packages]) => {
    const { home, root, whyRefused } = await createStage(packages());
    const before = listTree(home.path);
    expect(await whyRefused(npmRecord('@acme/server-tiny', '1.2.3'))).toMatch(
      new RegExp(reason.replace(/[.+()]/g, '\\$&')),
    );
    const after = listTree(home.path).filter((line) => !root.endsWith(line.split(' ')[0] ?? ''));
    expect(after).toEqual(before);
  });
});
