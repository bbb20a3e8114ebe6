/** A read token can send expensive queries to the log: the owner does not wait for them. */
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { openStage, type Stage } from './api-stage.js';

const RECORDS = 400;
const WORDS = Array.from({ length: 400 }, (_, at) => `w${at}`).join(' ');
/** The most expensive search that is accepted: prefixes of many words. */
const EXPENSIVE = Array.from({ length: 16 }, (_, at) => `w${at + 1}`).join(' ');
const MANY = 100;
const MAX_WAITING = 64;

async function filled(): Promise<Stage> {
  const stage = await openStage();
  for (let at = 0; at < RECORDS; at += 1)
    stage.log.append({
      ...{ id: `r${at}`, startedAt: Date.now() - at, durationMs: 1, kind: 'tool', outcome: 'ok' },
      ...{ server: 'demo', tool: 'echo', toolName: 'demo_echo', attempts: 1 },
      ...{ arguments: JSON.stringify({ text: WORDS }), argumentsBytes: WORDS.length, resultBytes: 0 },
    });
  await stage.log.flush();
  return stage;
}

describe('queries of the log', () => {
  it.each(['/api/calls?limit=1', '/api/stats', '/api/calls/r1'])(
    'of others are no reason for the owner to wait: %s',
    async (path) => {
      const { ask, token, defects } = await filled();
      const reader = await token(['read']);
      let [done, refused] = [0, 0];
      const asked = Array.from({ length: MANY }, async () => {
        const search = encodeURIComponent(EXPENSIVE);
        const { status } = await ask('GET', `/api/calls?limit=200&search=${search}`, { token: reader });
        if (status === 200) done += 1;
        else refused += 1;
        return status;
      });
      // All have arrived before the owner asks.
      await waitUntil(() => refused >= MANY - MAX_WAITING && done > 0, 30_000);
      const doneBefore = done;
      expect((await ask('GET', path)).status).toBe(200);
      expect(done - doneBefore).toBeLessThan(8);
      const statuses = await Promise.all(asked);
      expect(new Set(statuses)).toEqual(new Set([200, 503]));
      expect(done).toBeLessThan(MANY);
      expect(defects).toEqual([]);
    },
    60_000,
  );

  it.each([
    ['w '.repeat(1_000), 'at most 256 characters, got 2000'],
    [Array.from({ length: 17 }, (_, at) => `${at + 10}`).join(' '), 'at most 16 different words, got 17'],
  ])('are limited in length: %#', async (search, text) => {
    const { ask } = await openStage();
    const { status, body } = await ask('GET', `/api/calls?search=${encodeURIComponent(search)}`);
    expect([status, body.code]).toEqual([422, 'ARGUMENTS_INVALID']);
    expect(body.error).toContain(text);
  });
});
