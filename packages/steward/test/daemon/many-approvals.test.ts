/** Very many and very large approvals: they are counted, listed in pages and answered without reading all of them. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStewardDatabase } from '../../src/queue/steps.js';
import { type Json, openStewardStage, type StewardStage } from './stage.js';

const COUNT = 40;
/** As earlier versions stored them. */
const SIZE = 300_000;

let stage: StewardStage;
beforeAll(async () => {
  stage = await openStewardStage();
  await stage.request('search_servers', { purpose: 'anything' });
  const database = await openStewardDatabase(stage.home.file('state/work.db'));
  const insert = database.prepare(
    `INSERT INTO install_approvals (id, request_id, step, subject, fields, created_at, expires_at)
     VALUES (?, ?, 's', ?, '[]', 0, ?)`,
  );
  const subject = JSON.stringify({ details: ['x'.repeat(SIZE)] });
  database.transaction(() => {
    for (let at = 0; at < COUNT; at += 1) insert.run(`a${at}`, `r${at}`, subject, Date.now() + 3_600_000);
  });
  database.close();
});
afterAll(() => stage.close());

// requirement E4
it('they are counted', async () => {
  expect((await stage.api('GET', '/api/steward')).body).toMatchObject({ pendingApprovals: COUNT });
});

it('they are listed in pages of a bounded size, each once', async () => {
  const ids: unknown[] = [];
  for (let after = ''; ; ) {
    const { body } = await stage.api('GET', `/api/steward/approvals?limit=100${after}`);
    expect(JSON.stringify(body).length).toBeLessThan(1_200_000);
    ids.push(...(body.approvals as Json[]).map(({ id }) => id));
    if (body.next === undefined) break;
    after = `&after=${body.next}`;
  }
  expect(ids).toEqual(Array.from({ length: COUNT }, (_, at) => `a${at}`));
});

it('those of one request are found, and one is answered', async () => {
  const { body } = await stage.api('GET', '/api/steward/approvals?request=r30');
  expect((body.approvals as Json[]).map(({ id }) => id)).toEqual(['a30']);
  expect(await stage.answer('a39', 'no')).toMatchObject({ status: 200, body: { answer: 'no' } });
  expect((await stage.answer('a39', 'no')).status).toBe(404);
  expect((await stage.api('GET', '/api/steward')).body).toMatchObject({ pendingApprovals: COUNT - 1 });
});
