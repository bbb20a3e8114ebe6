import fc from 'fast-check';
import { createRuntime, type Runtime } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { truncateJson } from '../../src/log/truncate-json.js';
import { openRecorded } from './recorded-runtime.js';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];
const random = (length: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...LETTERS), { minLength: length, maxLength: length }).map((all) => all.join(''));

/** The random part of a secret, and the text that contains it. */
const SECRETS = fc.oneof(
  random(36).map((secret) => [secret, `ghp_${secret}`] as const),
  random(90).map((secret) => [secret, `sk-ant-${secret}`] as const),
  random(900).map((secret) => [secret, `Authorization: Bearer ${secret}`] as const),
  random(300).map((secret) => [secret, `https://someone:${secret}@example.org/`] as const),
  random(600).map(
    (secret) =>
      [secret, `eyJ${secret.slice(0, 200)}.${secret.slice(200, 400)}.${secret.slice(400)}`] as const,
  ),
);
const LIMIT = 2_000;
/** Other secrets before it: redacted text is shorter than the original. */
const BEFORE = `ghp_${'x'.repeat(200)} `;

/** Where in the data a text occurs. */
const PLACES: ReadonlyArray<(text: string) => unknown> = [
  (text) => ({ text }),
  (text) => ({ [text]: 'value' }),
  (text) => ({ [text]: 'value', more: 'm'.repeat(9_000) }),
  (text) => [text.slice(0, 900), text.slice(900)],
  (text) => ({ text, id: 12345678901234567890n.toString() }),
];

function expectNothingOf(secret: string, kept: string): void {
  for (let at = 0; at + 8 <= secret.length; at += 1)
    if (kept.includes(secret.slice(at, at + 8))) expect.fail(`kept: ${secret.slice(at, at + 8)}`);
}

describe('a secret at the limit of what is kept', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await createRuntime();
  });
  afterAll(() => runtime.close());

  it('is not kept in part, wherever it stands', () => {
    const texts = fc.record({
      secret: SECRETS,
      at: fc.integer({ min: LIMIT - 1_000, max: LIMIT + 9_000 }),
      before: fc.integer({ min: 0, max: 40 }),
      place: fc.constantFrom(...PLACES),
    });
    fc.assert(
      fc.property(texts, ({ secret: [secret, written], at, before, place }) => {
        const head = BEFORE.repeat(before).slice(0, at);
        const text = `${head}${'a '.repeat(Math.max(at - head.length, 0) / 2)} ${written} ${'b '.repeat(4_000)}`;
        const { text: kept = '' } = truncateJson(place(text), {
          limit: LIMIT,
          redact: (value) => runtime.redact(value),
        });
        expectNothingOf(secret, kept);
      }),
      { numRuns: 500, seed: 9 },
    );
  });

  it('is not in the error of a call either', async () => {
    const { runtime: recorded, log } = await openRecorded({ runtime: { servers: {} } });
    const secret = LETTERS.join('').slice(0, 36);
    for (let at = 4_050; at < 4_096; at += 5) {
      const text = `${`${BEFORE.repeat(30).slice(0, at)} `}ghp_${secret}`;
      recorded.registerTool({
        name: `fail${at}`,
        inputSchema: { type: 'object' },
        run: () => ({ content: [{ type: 'text', text }], isError: true }),
      });
      await recorded.execute(`fail${at}`, {}, { requestId: `call-${at}` });
      await log.flush();
      expectNothingOf(secret, JSON.stringify(await log.get(`call-${at}`)));
    }
  });
});
