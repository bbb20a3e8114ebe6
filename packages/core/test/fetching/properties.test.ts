import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressClass } from '../../src/fetching/address-class.js';
import { createGuardedFetch, type GuardedFetchOptions } from '../../src/fetching/guarded-fetch.js';
import type { Target } from '../../src/fetching/target.js';

const RUNS = 10_000;

/** Does not connect: reports the target of the connection. */
class Dialled extends Error {
  readonly target: Target;
  constructor(target: Target) {
    super('dialled');
    this.target = target;
  }
}
const dial = (target: Target): Socket => {
  const socket = new Socket();
  process.nextTick(() => socket.destroy(new Dialled(target)));
  return socket;
};

/** The addresses that a fetch would have connected to, or undefined if it was refused for its address. */
async function dialledBy(url: string, options: GuardedFetchOptions = {}): Promise<string[] | undefined> {
  try {
    await createGuardedFetch({ dial, ...options })(url);
  } catch (error) {
    const { cause, data } = error as { cause?: unknown; data?: { reason?: string } };
    if (cause instanceof Dialled) return cause.target.addresses.map(({ address }) => address);
    if (data?.reason === 'address') return undefined;
    throw error;
  }
  throw new Error('nothing can have answered');
}

const byte = fc.nat(255);
/** Special ranges occur as often as the others. */
const ipv4 = fc.oneof(
  fc.tuple(byte, byte, byte, byte),
  fc
    .tuple(
      fc.constantFrom(
        [10],
        [127],
        [0],
        [100, 64],
        [169, 254],
        [172, 16],
        [192, 168],
        [192, 0, 0],
        [198, 18],
        [224],
        [255],
      ),
      fc.tuple(byte, byte, byte, byte),
    )
    .map(([start, rest]) => [...start, ...rest].slice(0, 4) as [number, number, number, number]),
);
type Octets = readonly [number, number, number, number];

const number = ([a, b, c, d]: Octets): number => ((a * 256 + b) * 256 + c) * 256 + d;
const fullWidth = (text: string): string =>
  text.replaceAll(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfe_e0));
const inBase = (value: number, base: number): string =>
  ({ 8: `0${value.toString(8)}`, 10: `${value}`, 16: `0x${value.toString(16)}` })[base] ?? '';

const SPELLINGS: readonly ((octets: Octets, bases: readonly number[]) => string)[] = [
  (octets) => octets.join('.'),
  (octets) => `${octets.join('.')}.`,
  (octets, bases) => octets.map((octet, index) => inBase(octet, bases[index] ?? 10)).join('.'),
  (octets, bases) => inBase(number(octets), bases[0] ?? 10),
  ([a, b, c, d], bases) => `${inBase(a, bases[0] ?? 10)}.${inBase((b * 256 + c) * 256 + d, bases[1] ?? 10)}`,
  ([a, b, c, d], bases) => `${a}.${inBase(b, bases[0] ?? 10)}.${inBase(c * 256 + d, bases[1] ?? 10)}`,
  (octets) => fullWidth(octets.join('.')),
  (octets) => octets.join('。'),
  (octets) => encodeURIComponent(fullWidth(octets.join('．'))),
  (octets) => octets.map((octet) => [...`${octet}`].map((digit) => `%3${digit}`).join('')).join('%2e'),
];
const bases = fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 });

const group = fc.oneof(fc.constant(0), fc.nat(0xff_ff));
const ipv6 = fc
  .oneof(
    fc.array(group, { minLength: 8, maxLength: 8 }),
    fc
      .tuple(
        fc.constantFrom(
          [0, 0, 0, 0, 0, 0xff_ff],
          [0x64, 0xff_9b, 0, 0, 0, 0],
          [0x64, 0xff_9b, 1],
          [0x20_01, 0],
          [0x20_02],
          [0x20_01, 0xd_b8],
          [0xfe_80],
          [0xfe_c0],
          [0xfd_00],
          [0, 0, 0, 0, 0, 0, 0],
          [0x26_06, 0x47_00],
        ),
        fc.array(group, { minLength: 8, maxLength: 8 }),
      )
      .map(([start, rest]) => [...start, ...rest].slice(0, 8)),
  )
  .map((groups) => groups.map((value) => value.toString(16)));

const SPELLINGS_6: readonly ((groups: readonly string[]) => string)[] = [
  (groups) => groups.join(':'),
  (groups) => groups.map((text) => text.padStart(4, '0').toUpperCase()).join(':'),
  (groups) => new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1),
  (groups) => {
    const [high = 0, low = 0] = groups.slice(6).map((text) => Number.parseInt(text, 16));
    return `${groups.slice(0, 6).join(':')}:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  },
];

async function agrees(host: string, address: string): Promise<void> {
  const expected =
    addressClass(address) === 'public'
      ? [new URL(`http://${host}`).hostname.replaceAll(/[[\]]/g, '')]
      : undefined;
  expect(await dialledBy(`https://${host}/`)).toEqual(expected);
}

it('an IPv4 address is classified by its value, however it is spelled', async () => {
  const spelling = fc.constantFrom(...SPELLINGS);
  await fc.assert(
    fc.asyncProperty(ipv4, spelling, bases, async (octets, spell, chosen) => {
      const host = spell(octets, chosen);
      expect(new URL(`https://${host}/`).hostname).toBe(octets.join('.'));
      await agrees(host, octets.join('.'));
    }),
    { numRuns: RUNS },
  );
}, 120_000);

it('an IPv6 address is classified by its value, however it is spelled', async () => {
  await fc.assert(
    fc.asyncProperty(ipv6, fc.constantFrom(...SPELLINGS_6), async (groups, spell) => {
      const text = spell(groups);
      expect(addressClass(text)).toBe(addressClass(groups.join(':')));
      await agrees(`[${text}]`, groups.join(':'));
    }),
    { numRuns: RUNS },
  );
}, 120_000);

it('a name is connected to only if all its addresses are public, and only to those', async () => {
  const address = fc.oneof(
    ipv4.map((octets) => octets.join('.')),
    ipv6.map((groups) => groups.join(':')),
    fc.constantFrom('8.8.8.8', '93.184.215.14', '2606:4700::1111'),
  );
  const answers = fc.array(address, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(answers, answers, async (first, later) => {
      let asked = 0;
      const lookup = async () => {
        asked += 1;
        return (asked === 1 ? first : later).map((text) => ({ address: text, family: 0 }));
      };
      const dialled = await dialledBy('https://name.example/', { lookup });
      const allPublic = first.every((text) => addressClass(text) === 'public');
      expect(dialled).toEqual(allPublic ? first : undefined);
    }),
    { numRuns: RUNS },
  );
}, 120_000);
