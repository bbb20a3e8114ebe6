import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createMetrics } from '../../src/metrics/metrics.js';
import { openRecorded } from './recorded-runtime.js';

const CANARY = 'canary-5f1d8c0b7a2e94';
const TOKEN = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const LIMIT = 600;

it('leaves no secret in the journal, the database or the metrics', async () => {
  const { runtime, log, files } = await openRecorded({
    runtime: {
      servers: { demo: { ...fixture('echo'), env: { DEMO_TOKEN: CANARY }, args: [...fixture('echo').args] } },
    },
    record: { keep: { arguments: LIMIT, result: LIMIT } },
  });
  const metrics = createMetrics(runtime, { log });
  await runtime.connectAll();
  const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);
  // In arguments, in what the server answers, under a secret's name, in base64, in errors, in names and addresses.
  await runtime.callTool('demo', 'env');
  await runtime.callTool('demo', 'echo', { text: `it is ${CANARY}, really, and ${TOKEN}` });
  await runtime.callTool('demo', 'echo', { text: Buffer.from(CANARY).toString('base64') });
  await quietly(runtime.callTool('demo', 'echo', { text: 'x', password: 'hunter2-canary' }));
  await quietly(runtime.callTool('demo', CANARY));
  await quietly(runtime.call({ tool: `mcp__demo__${CANARY}` }));
  await quietly(runtime.readResource('demo', `demo://user:${CANARY}@host/?token=${TOKEN}`));
  // At the limit of what is kept: no part of the secret remains.
  for (let shift = 0; shift < 60; shift += 3)
    await runtime.callTool('demo', 'echo', { text: `${'-'.repeat(LIMIT - 80 + shift)}${CANARY} tail` });
  // Beyond the limit, where the text is cut before it is redacted.
  for (let shift = 0; shift < 60; shift += 3)
    await runtime.callTool('demo', 'echo', { text: `${'-'.repeat(LIMIT + 2_000 + shift)}${CANARY} tail` });
  const before = files();
  await log.flush();
  const rows = await log.find({ limit: 1_000 });
  const everything = `${before}\n${files()}\n${JSON.stringify(rows)}\n${metrics.text()}`;
  metrics.close();
  expect(rows.length).toBe(47);
  expect(everything).toContain('[redacted]');
  for (const secret of [
    CANARY,
    TOKEN,
    'hunter2-canary',
    'canary-5f1d8',
    Buffer.from(CANARY).toString('base64'),
  ])
    expect({ secret, found: everything.includes(secret) }).toEqual({ secret, found: false });
});
