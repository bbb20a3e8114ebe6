import { ISSUED_SECRETS } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { TurnbuckleError } from '../../src/errors.js';
import { createRedactor } from '../../src/redaction/redactor.js';
import { findSecretShape, SECRET_SHAPES } from '../../src/redaction/secret-shapes.js';

const KINDS = Object.entries(ISSUED_SECRETS).flatMap(([kind, secrets]) =>
  secrets.map((secret) => [kind, secret] as const),
);

it('there is an example of every known kind', () => {
  expect(Object.keys(ISSUED_SECRETS).sort()).toEqual(SECRET_SHAPES.map(([kind]) => kind).sort());
});

describe.each(KINDS)('%s: %s', (kind, secret) => {
  /** Places of a secret: each is safe to show after redaction. */
  const PLACES: Readonly<Record<string, unknown>> = {
    alone: secret,
    'in a sentence': `use ${secret}, please`,
    'in quotes': `say "${secret}"`,
    'in an address': `https://host/path?x=${secret}&y=1`,
    'in a path': `notes://${secret}/x`,
    'in a header': `X-Other: ${secret}`,
    'in JSON': JSON.stringify({ text: secret }),
    'in a shell command': `curl -H 'X-A: ${secret}' https://host`,
    'as a value': { a: [{ b: { c: secret } }] },
    'as a name': { [secret]: 1 },
    'in an error': new TurnbuckleError('INTERNAL', `It said ${secret}.`, {
      hint: `Try ${secret}`,
      data: { said: secret },
      cause: new Error(secret),
    }),
  };
  const core = secret.split('\n')[1] ?? secret;

  it.each(Object.keys(PLACES))('is redacted %s', (place) => {
    const { text, value, error } = createRedactor();
    const found = PLACES[place];
    const shown =
      typeof found === 'string'
        ? text(found)
        : found instanceof TurnbuckleError
          ? error(found)
          : value(found);
    const seen =
      shown instanceof TurnbuckleError
        ? [shown.message, shown.hint, shown.stack, JSON.stringify(shown.data), String(shown.cause)].join()
        : JSON.stringify(shown);
    expect(seen).toContain('[redacted]');
    expect(seen).not.toContain(core);
  });

  it('is recognized by its kind, and so not sent to an untrusted server', () => {
    expect(findSecretShape(`here: ${secret}`)).toBe(kind);
  });
});

it('a token for this daemon is recognized when truncated, and after a word', () => {
  const [token = ''] = ISSUED_SECRETS['a token for this daemon'] ?? [];
  const { text } = createRedactor();
  expect(text(`cut ${token.slice(0, 24)}…`)).toBe('cut [redacted]…');
  expect(text(`MY_${token}`)).toBe('MY_[redacted]');
  expect(text(`${token}${token}`)).toBe('[redacted]');
});

it.each([
  'tbk_',
  'tbk_…',
  'Bearer tbk_…',
  'tbk_wrong',
  'the prefix tbk_ of a token',
  'hf_hub',
  'pypi-server',
  'xapp-1',
])('is not a secret: %s', (text) => {
  expect(createRedactor().text(text)).toBe(text);
});
