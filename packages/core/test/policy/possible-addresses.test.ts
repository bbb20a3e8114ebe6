/** An ask or deny rule matches every address that some reader could take for a matching one. */

import { posix } from 'node:path';
import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { possibleAddresses, wideAddressGlob } from '../../src/policy/possible-addresses.js';
import { mapPattern } from '../../src/text/glob.js';
import { decideFor, tell } from './decision-world.js';

const RESOURCE = { kind: 'resource' } as const;
const DENY = [{ action: 'deny', tool: 'file:///secret/**' }] as const;

describe('a deny for file:///secret/**', () => {
  it.each([
    'file:///secret/key',
    'file:///public/../secret/key',
    'file:///public/%2e%2e/secret/key',
    'file:///public/%2E./secret/key',
    'file:///%73ecret/key',
    'file:///%2573ecret/key',
    'file:///%25252573ecret/key',
    'FILE:///secret/key',
    'File:///secret/key',
    'file://localhost/secret/key',
    'file://LOCALHOST/secret/key',
    'file://local%68ost/secret/key',
    'file://localhost./secret/key',
    'file:/secret/key',
    'FILE:///secret//../key',
    'FILE:///secret/\\/..',
    'file:secret/key',
    'file:////secret/key',
    'file://///secret//key',
    'file:\\\\\\secret\\key',
    'file:///secret%2Fkey',
    'file:///secret%5Ckey',
    'file:///secret/./key',
    'file:///secret/x%2Fy/%2e%2e/key',
    'file:///./secret/key',
    'file:///secret./key',
    'file:///secret%20/key',
    ' file:///secret/key',
    '\u00a0file:///secret/key',
    '\ufefffile:///secret/key',
    '\u0085\u3000file:///secret/key\u2003',
    '%C2%A0file:///secret/key',
    'file:///secret\u00a0',
    'fi\nle:///sec\tret/key',
    '\u0001file:///secret/key\u0000',
    'file:///secret%00/key',
    'file:///public/x?/../../secret/key',
    'file:///public/x%3F/../../secret/key',
    'file:///public/..%c0%afsecret/key',
    'file:///public/%c0%ae%c0%ae/secret/key',
    'file://127.0.0.1/secret/key',
    'file://me@localhost/secret/key',
    'turnbuckle://files/file%3A%2F%2F%2Fsecret%2Fkey',
    'TURNBUCKLE://my%20files/file%3A%2F%2F%2Fpublic%2F..%2Fsecret%2Fkey',
    'turnbuckle://a/turnbuckle%3A%2F%2Fb%2Ffile%253A%252F%252F%252Fsecret%252Fkey',
    'turnbuckle:///file:///secret/key',
    '/secret/key',
    '/public/../secret/key',
    'file:///secret',
    'file:///secret/../public/key',
    `file:///%${'25'.repeat(300)}73ecret/key`,
    `file:///${'x/../'.repeat(3_000)}secret/key`,
  ])('matches %j', (address) => {
    expect(tell(decideFor(DENY, 'a', `files:${address}`, RESOURCE))).toBe('hidden 0');
    expect(tell(decideFor([{ ...DENY[0], action: 'ask' }], 'a', `files:${address}`, RESOURCE))).toBe('ask 0');
  });

  it.each([
    'file:///public/key',
    'file:///secrets/key',
    'file:///public/secret/key',
    'file:///public/a%20b',
    'notes://secret/key',
    'turnbuckle://files/file%3A%2F%2F%2Fpublic%2Fkey',
    'turnbuckle://secret/notes%3A%2F%2Fkey',
    'https://example.com/secret/key',
    'file:///public?x=/secret/key',
  ])('does not match %s', (address) => {
    expect(tell(decideFor(DENY, 'a', `files:${address}`, RESOURCE))).toBe('allow');
  });

  it('matches tool names only literally', () => {
    const rules = [...DENY, { action: 'allow', tool: '*' }] as const;
    expect(tell(decideFor(rules, 'a', 'files:FILE:///secret/key'))).toBe('allow 1');
    expect(tell(decideFor(rules, 'a', 'files:file:///secret/key'))).toBe('hidden 0');
  });
});

describe('an allow', () => {
  const rules = [{ action: 'allow', tool: 'file:///public/**' }] as const;
  const strict = { ...RESOURCE, defaultDecision: 'deny' } as const;

  it.each([
    ['file:///public/key', 'allow 0'],
    ['file:///public/a%20b', 'allow 0'],
    ['FILE:///public/key', 'deny'],
    ['file:/public/key', 'deny'],
    ['file:///public/../secret/key', 'deny'],
    ['file:///public/%2e%2e/secret/key', 'deny'],
    ['file:///public/..%5csecret', 'deny'],
  ])('of file:///public/** for %s: %s', (address, expected) => {
    expect(tell(decideFor(rules, 'a', `files:${address}`, strict))).toBe(expected);
  });

  it('of one address matches that exact address, however odd it is', () => {
    const odd = 'file:///public/../x';
    expect(tell(decideFor([{ action: 'allow', tool: odd }], 'a', `files:${odd}`, strict))).toBe('allow 0');
  });
});

describe('argument patterns', () => {
  it.each(['FILE:///secret/key', 'file:/secret/key', 'file://localhost/secret/key', 'file:///%73ecret/key'])(
    'deny %s as well',
    (uri) => {
      const rules = [
        { action: 'deny', arguments: { uri: 'file:///secret/**' } },
        { action: 'allow', tool: 'read' },
      ] as const;
      expect(tell(decideFor(rules, 'a', 'sure:read', { args: { uri } }))).toBe('deny 0');
    },
  );
});

// --- addresses that a parser or a lenient server treats as equal -----------------------------------------

const SEED = 20_260_731;
const word = fc.string({
  unit: fc.constantFrom('a', 'b', 'Z', '7', 'é', ' ', '-'),
  minLength: 1,
  maxLength: 4,
});
const segment = word.map((text) => `s${text.trimEnd()}`);
const scheme = fc.constantFrom('file', 'https', 'notes', 'ftp');
const denied = fc
  .record({
    scheme,
    host: fc.constantFrom('h', 'host.example'),
    path: fc.array(segment, { minLength: 1, maxLength: 4 }),
  })
  .map(
    ({ scheme: name, host, path }) =>
      `${name}://${name === 'file' ? '' : host}/${path.map(encodeURIComponent).join('/')}`,
  );

type Change = (address: string, pick: number) => string;
const at = (text: string, pick: number): number => 1 + (pick % Math.max(text.length - 1, 1));
/** Inserts a segment after scheme and host. */
const inPath = (address: string, inserted: string, pick: number): string => {
  const slashes = [...address.matchAll(/\//g)].map(({ index }) => index).slice(2);
  const place = slashes[pick % slashes.length] ?? address.length;
  return `${address.slice(0, place)}/${inserted}${address.slice(place)}`;
};
const encodeAt: Change = (address, pick) => {
  const from = address.indexOf('://') + 3;
  const index = from + (pick % (address.length - from));
  const character = address[index] ?? '';
  if (!/[\w%-]/.test(character) || /%.?$/.test(address.slice(from, index))) return address;
  // Not in the host: percent-encoding is not valid in a host name.
  const inHost = !address.slice(from, index).includes('/') && !address.startsWith('file');
  if (inHost) return address;
  return `${address.slice(0, index)}%${character.charCodeAt(0).toString(16)}${address.slice(index + 1)}`;
};
const CHANGES: readonly Change[] = [
  encodeAt,
  (address) => address.replace(/^[a-z]+/i, (name) => name.toUpperCase()),
  (address, pick) => inPath(address, 'x/..', pick),
  (address, pick) => inPath(address, '%2e', pick),
  (address, pick) => inPath(address, 'x/%2E.', pick),
  (address) => address.replace(/^file:\/\/(?=\/)/i, 'file://localhost'),
  (address) => address.replace(/^file:\/\/(?:localhost)?(?=\/[^/])/i, 'file:'),
  (address) => address.replace(/^(https:\/\/[a-z.]+)(?=\/)/, '$1:443'),
  (address) => address.replace(/^(https|ftp):\/\//i, '$1:\\\\'),
  (address) => address.replace(/^(https|ftp):\/\//i, '$1:/'),
  (address, pick) => `${address.slice(0, at(address, pick))}\t${address.slice(at(address, pick))}`,
  (address) => ` ${address}`,
  (address) => address.normalize('NFD'),
  (address) => (URL.canParse(address) ? new URL(address).href : address),
  (address) => `${address}#part`,
  (address) => `${address}?x=1`,
];
const changes = fc.array(fc.tuple(fc.constantFrom(...CHANGES), fc.nat(1_000)), {
  minLength: 1,
  maxLength: 5,
});

describe('an address in another form', () => {
  it('is denied if a parser or a lenient server reads it as the denied one', () => {
    fc.assert(
      fc.property(denied, changes, fc.boolean(), fc.nat(3), (address, steps, wild, doubled) => {
        const changed = steps.reduce((text, [change, pick]) => change(text, pick), address);
        // A doubled slash at the end: another address for a URL parser, but not for a file system.
        const written = doubled === 0 ? inPath(changed, '', changed.length) : changed;
        const pattern = wild ? address.replace(/[^/]+$/, '*') : address;
        expect(wideAddressGlob(pattern)(written), `${written} for ${pattern}`).toBe(true);
      }),
      { numRuns: 20_000, seed: SEED },
    );
  });

  it('of a file is denied if Node would open the denied file with it', () => {
    const piece = fc.constantFrom(
      'secret',
      '%73ecret',
      'public',
      '..',
      '%2e%2e',
      '.',
      '',
      'x%2Fy',
      'key',
      '%6Bey',
      '?q',
      '#f',
      '\\',
    );
    const guard = wideAddressGlob('file:///secret/**');
    const isSecret = (path: string): boolean => posix.normalize(path).startsWith('/secret/');
    let found = 0;
    fc.assert(
      fc.property(
        fc.constantFrom('file://', 'FILE://', 'file:', 'file://localhost'),
        fc.array(piece, { maxLength: 8 }),
        (start, pieces) => {
          const address = `${start}/${pieces.join('/')}`;
          if (!URL.canParse(address)) return;
          const readings = [
            new URL(address).pathname,
            decodeURIComponent(new URL(address).pathname),
            address.replace(/^file:\/\/(?:localhost)?/i, ''),
            decodeURIComponent(address.replace(/^file:\/\/(?:localhost)?/i, '')),
            decodeURIComponent(address.replace(/^file:(?:\/\/)?(?:localhost)?/i, '').replace(/[?#].*$/, '')),
          ];
          if (!readings.some(isSecret)) return;
          found += 1;
          expect(guard(address), address).toBe(true);
        },
      ),
      { numRuns: 20_000, seed: SEED },
    );
    expect(found).toBeGreaterThan(500);
  });

  it('is fast for addresses that are built to be slow', () => {
    const started = performance.now();
    for (const part of ['%2e/', '../', 'a%2525', '\\', '/', '.', '?', '%c0%ae', '\0', '. '])
      for (const length of [1_000, 8_000, 1_000_000])
        possibleAddresses(`file:///${part.repeat(length / part.length)}`);
    expect(performance.now() - started).toBeLessThan(timeBound(1_000));
  });
});

it('mapPattern changes only the literal text of a pattern', () => {
  expect(mapPattern('a\\*b*c**d?', (text) => text.toUpperCase())).toBe('A\\*B*C**D?');
  expect(mapPattern('x', () => '*?\\')).toBe('\\*\\?\\\\');
});

it('ignores the case of file paths if the platform does', () => {
  expect(wideAddressGlob('file:///Secret/**', { foldCase: true })('file:///sECRET/x')).toBe(true);
  expect(wideAddressGlob('file:///Secret/**', { foldCase: false })('file:///sECRET/x')).toBe(false);
});
