import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redaction/redactor.js';

const RUNS = Number(process.env.TURNBUCKLE_REDACT_RUNS ?? 2_000);
const slow = { timeout: 60_000 + RUNS * 30 };

/** Anything that may be used as a secret, including quotes, line breaks and other scripts. */
const secret = fc.oneof(
  { weight: 2, arbitrary: fc.string({ minLength: 6, maxLength: 12, unit: 'grapheme' }) },
  { weight: 2, arbitrary: fc.string({ minLength: 6, maxLength: 16, unit: 'binary' }) },
  { weight: 4, arbitrary: fc.string({ minLength: 6, maxLength: 60, unit: 'grapheme-ascii' }) },
  {
    weight: 1,
    arbitrary: fc.string({ minLength: 6, maxLength: 20, unit: fc.constantFrom(...'\\"\'/%&<> \n\t+-') }),
  },
  { weight: 1, arbitrary: fc.base64String({ minLength: 8, maxLength: 80 }) },
);

/** Secrets that are too short or part of the mark are not learned. */
const usable = (text: string): boolean =>
  text.trim().length >= 6 && !text.includes('[redacted]') && !'[redacted]'.includes(text.trim());

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const everyByte = (text: string, mark: string): string =>
  [...Buffer.from(text)].map((byte) => `${mark}${byte.toString(16).padStart(2, '0')}`).join('');
const everyUnit = (text: string, mark: string): string =>
  text.replace(/[\s\S]/g, (unit) => `${mark}${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  json: (text) => JSON.stringify(text).slice(1, -1),
  'json in json': (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  address: (text) => encodeURIComponent(text.toWellFormed()),
  form: (text) => new URLSearchParams({ a: text }).toString().slice(2),
  'percent-encoded bytes': (text) => everyByte(text, '%'),
  'percent-encoded bytes, in capitals': (text) => everyByte(text, '%').toUpperCase(),
  'percent-encoded bytes, twice': (text) => everyByte(text, '%25'),
  'every unit in \\u': (text) => everyUnit(text, '\\u'),
  'every unit in \\u, in JSON': (text) => JSON.stringify(everyUnit(text, '\\u')).slice(1, -1),
  base64,
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 after one': (text) => base64(`a${text}`),
  'base64 after two': (text) => base64(`ab${text}`),
  'base64 in the middle': (text) => base64(`user:${text}:more`),
};
const encodingName = fc.constantFrom(...Object.keys(ENCODINGS));

/** Without `expect`, which would take longer than the redaction. */
function assertAbsent(text: string, secretText: string): void {
  if (text.includes(secretText))
    throw new Error(`${JSON.stringify(secretText)} is in ${JSON.stringify(text)}`);
}

describe('no learned secret survives', () => {
  it(`in any form, anywhere in a text (${RUNS} runs)`, slow, () => {
    fc.assert(
      fc.property(
        fc.array(secret.filter(usable), { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.string(), encodingName, fc.nat()), { minLength: 1, maxLength: 5 }),
        (secrets, places) => {
          const redactor = createRedactor();
          const wellFormed = secrets.map((one) => one.trim().toWellFormed()).filter(usable);
          for (const one of wellFormed) redactor.learn(one);
          fc.pre(wellFormed.length > 0);
          const written = places.map(([before, how, which]) => {
            const one = wellFormed[which % wellFormed.length] ?? '';
            return { before, form: ENCODINGS[how]?.(one) ?? '', one, how };
          });
          const text = redactor.text(written.map(({ before, form }) => `${before}${form}`).join(' '));
          for (const { form, one } of written) {
            assertAbsent(text, one);
            assertAbsent(text, form);
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  it(`in any position of nested data (${RUNS} runs)`, slow, () => {
    const tree = (leaf: fc.Arbitrary<string>) =>
      fc.letrec<{ node: unknown }>((tie) => ({
        node: fc.oneof(
          { maxDepth: 5, depthSize: 'small' },
          leaf,
          fc.constantFrom(1, true, null, undefined, 'text'),
          fc.array(tie('node'), { maxLength: 3 }),
          fc.dictionary(leaf, tie('node'), { maxKeys: 3 }),
          tie('node').map((node) => new Map([['x', node]])),
          tie('node').map((node) => new Set([node])),
          tie('node').map((node) => Object.assign(new Error('failed'), { node })),
        ),
      })).node;
    fc.assert(
      fc.property(
        secret.filter(usable).chain((one) => {
          const known = one.trim().toWellFormed();
          const leaf = fc
            .tuple(fc.string({ maxLength: 8 }), encodingName, fc.boolean())
            .map(([before, how, has]) => {
              return has ? `${before}${ENCODINGS[how]?.(known) ?? ''}` : before;
            });
          return fc.tuple(fc.constant(known), tree(leaf));
        }),
        ([known, data]) => {
          fc.pre(usable(known));
          const redactor = createRedactor();
          redactor.learn(known);
          const texts = textsIn(redactor.value(data));
          const forms = Object.values(ENCODINGS).map((write) => write(known));
          for (const text of texts) for (const form of forms) assertAbsent(text, form);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

it(`redacting again changes nothing (${RUNS} runs)`, slow, () => {
  const snippets = fc.constantFrom(
    'Authorization: Bearer ',
    'password=',
    '"token":"',
    '"',
    '[redacted]',
    'sk-proj-abcdefghijklmnopqrstu',
    'AKIAABCDEFGHIJKLMNOP',
    'https://user:pass@host/',
    'Cookie: a=b; ',
    '…',
    ' ',
    '-----BEGIN PRIVATE KEY-----',
  );
  fc.assert(
    fc.property(
      fc.array(secret, { maxLength: 3 }),
      fc.array(fc.oneof(snippets, fc.string({ maxLength: 12 }), fc.nat(2)), { maxLength: 12 }),
      (secrets, parts) => {
        const redactor = createRedactor();
        for (const one of secrets) redactor.learn(one);
        const text = parts.map((part) => (typeof part === 'number' ? (secrets[part] ?? '') : part)).join('');
        const once = redactor.text(text);
        expect(redactor.text(once)).toBe(once);
        const data = { [text]: [text], password: text, list: [{ text }] };
        const value = redactor.value(data);
        expect(redactor.value(value)).toEqual(value);
      },
    ),
    { numRuns: RUNS },
  );
});

it(`a text without secrets stays as it is (${RUNS} runs)`, slow, () => {
  const phrase = fc.constantFrom(
    'the server answered with error 500 after 3 tries;',
    'tokens: 12, page 4 of 9 (https://host.example/mcp?page=2)',
    'Basic authentication is wanted,',
    'Bearer tokens are not.',
    'max_tokens=400 progressToken 7 keyboard=us token_type=x',
    'WWW-Authenticate: Bearer resource_metadata="https://host.example/.well-known/x", error="invalid_token"',
    'Bearer realm="example"',
    'Give it an Authorization header, or ${TOKEN}, or Bearer ${TOKEN}, or token=${TOKEN}.',
    'naïve 東京 🙂',
    '{"name":"x","count":3,"token_endpoint":"https://host.example/token"}',
    'C:\\temp\\file /home/user/.config a=b c="d"',
    '2026-07-28T10:00:00Z 8c6f0d5e-1b2a-4c3d-9e8f-001122334455',
    'password: must not be empty',
  );
  fc.assert(
    fc.property(fc.array(phrase, { maxLength: 12 }), fc.array(secret, { maxLength: 3 }), (words, secrets) => {
      const redactor = createRedactor();
      const text = words.join(' ');
      for (const one of secrets)
        if (!text.includes(one.slice(0, 6)) && !text.includes(one.slice(-6))) redactor.learn(one);
      expect(redactor.text(text)).toBe(text);
      const data = { text, list: [text], nested: { count: words.length } };
      expect(redactor.value(data)).toBe(data);
    }),
    { numRuns: RUNS },
  );
});

function textsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  if (value instanceof Map) return [...value].flatMap((pair) => textsIn(pair, seen));
  if (Array.isArray(value) || value instanceof Set) return [...value].flatMap((part) => textsIn(part, seen));
  if (value instanceof Error)
    return ['message', 'stack', 'node'].flatMap((name) => textsIn(Reflect.get(value, name), seen));
  return Object.entries(value).flatMap((pair) => textsIn(pair, seen));
}
