/** The log keeps the numbers of a call as they were sent. */
import { parseLossless } from 'turnbuckle/host';
import { expect, it } from 'vitest';
import { truncateJson } from '../../src/log/truncate-json.js';
import { openRecorded } from './recorded-runtime.js';

const TEXT = '{"id":90071992547409931,"rate":1.0,"huge":1e400,"password":"hunter2-hunter2"}';
const read = (text: string): Record<string, unknown> => parseLossless(text) as Record<string, unknown>;

it('the log keeps numbers losslessly, and secrets not at all', async () => {
  const { runtime, log } = await openRecorded();
  await runtime.connectAll();
  await runtime.callTool('demo', 'echo', { ...read('{"text":"x"}') });
  await runtime.callTool('demo', 'echo', read(TEXT)).catch(() => {});
  await log.flush();
  const rows = await log.find({});
  const kept = rows.map((row) => String(row.arguments)).find((text) => text.includes('9007'));
  expect(kept).toContain('"id":90071992547409931,"rate":1.0,"huge":1e400');
  expect(kept).not.toContain('hunter2');
});

it.each([String.raw`"\ufdd35"`, String.raw`"\ufdd3-"`, String.raw`"\uFDD3e"`])(
  'and no text for a number, whatever is in it: %s',
  async (text) => {
    const { runtime, log } = await openRecorded();
    await runtime.connectAll();
    const sent = `{"n":1.0,"text":${text}}`;
    await runtime.callTool('demo', 'echo', read(sent));
    await log.flush();
    const [row] = await log.find({});
    expect(JSON.parse(String(row?.arguments))).toEqual(JSON.parse(sent));
    expect(String(row?.arguments)).toContain('"n":1.0');
  },
);

it('the log keeps numbers losslessly if only the beginning is kept', () => {
  const args = read(`{"id":90071992547409931,"text":"${'x'.repeat(9_000)}"}`);
  expect(truncateJson(args, { limit: 100, redact: (value) => value }).text).toMatch(
    /^\{"id":90071992547409931,/,
  );
});
