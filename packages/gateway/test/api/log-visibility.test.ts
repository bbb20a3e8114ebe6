import type { CallRecord } from '@turnbuckle/store';
import { fixture } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openStage, type Stage } from './api-stage.js';

const START = Date.now() - 3_600_000;
const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'hidden', 'demo'];
const CAN = ['mcp_demo'];

const file = JSON.stringify({
  servers: { demo: fixture('echo'), hidden: fixture('echo'), gone: { ...fixture('echo'), enabled: false } },
  rules: [
    { action: 'deny', server: 'demo', tool: 'secret-*' },
    { action: 'deny', server: 'demo', tool: 'maybe-*', annotations: { destructive: true } },
  ],
});

/** A generated call. A token that may see only `demo`, without its denied tools, sees the first two places. */
interface Made {
  readonly place: keyof typeof PLACES;
  readonly word: string;
  readonly failed: boolean;
  readonly durationMs: number;
}

const PLACES = {
  tool: { server: 'demo', tool: 'echo', kind: 'tool' },
  resource: { server: 'demo', tool: 'demo://notes', kind: 'resource' },
  'other-server': { server: 'hidden', tool: 'echo', kind: 'tool' },
  'other-resource': { server: 'hidden', tool: 'demo://notes', kind: 'resource' },
  denied: { server: 'demo', tool: 'secret-keys', kind: 'tool' },
  gone: { server: 'gone', tool: 'echo', kind: 'tool' },
  // Whether it is hidden depends on its annotations, which are unknown because it is missing.
  doubtful: { server: 'demo', tool: 'maybe-so', kind: 'tool' },
  // A call that found nothing: the item could also be hidden.
  missing: { server: 'demo', tool: 'nothing', kind: 'tool', decision: undefined, code: 'TOOL_UNKNOWN' },
  unreached: { server: 'demo', tool: 'nothing', kind: 'tool', decision: undefined, code: 'CONNECT_FAILED' },
  nowhere: { server: 'demo', tool: 'demo://nothing', kind: 'resource', code: 'RESOURCE_UNKNOWN' },
} as const satisfies Record<string, Pick<CallRecord, 'server' | 'tool' | 'kind' | 'decision' | 'code'>>;
const isVisible = ({ place }: Made): boolean => place === 'tool' || place === 'resource';

const toCallRecord = ({ place, word, failed, durationMs }: Made, index: number): CallRecord => ({
  decision: 'allow',
  ...PLACES[place],
  id: `call-${index}`,
  startedAt: START + index * 1_000,
  durationMs,
  caller: index % 2 === 0 ? 'somebody' : 'agent',
  toolName: `${PLACES[place].server}_x`,
  arguments: JSON.stringify({ text: word }),
  argumentsBytes: word.length,
  result: `"${word} came back"`,
  resultBytes: word.length,
  outcome: failed ? 'failed' : 'ok',
  attempts: 1,
});

const MADE: fc.Arbitrary<Made> = fc.record({
  place: fc.constantFrom(...(Object.keys(PLACES) as Made['place'][])),
  word: fc.constantFrom(...WORDS),
  failed: fc.boolean(),
  durationMs: fc.integer({ min: 0, max: 1_000 }),
});

/** Everything that the token can read. Calls are compared by id: their numbers count the calls of all servers. */
async function learn(stage: Stage, token: string): Promise<unknown> {
  const ask = async (path: string) => (await stage.ask('GET', path, { token })).body;
  const queries = [
    '',
    ...WORDS.map((word) => `search=${word}`),
    'server=hidden',
    'tool=secret-keys',
    'tool=echo',
  ];
  const pages: unknown[] = [];
  for (const query of [...queries, 'caller=agent', 'outcome=failed', 'search=hidden+demo']) {
    for (const limit of [2, 100]) {
      const ids: string[] = [];
      let before = '';
      for (let page = 0; page < 100; page += 1) {
        const { calls, next } = (await ask(`/api/calls?limit=${limit}&${query}${before}`)) as {
          calls: Array<{ id: string; number: number }>;
          next?: number;
        };
        ids.push(`${calls.map(({ id }) => id).join()}${next === undefined ? '.' : ';'}`);
        expect(next).toBe(calls.length === limit ? calls.at(-1)?.number : undefined);
        if (next === undefined) break;
        before = `&before=${next}`;
      }
      pages.push([query, limit, ids]);
    }
  }
  const stats = [];
  for (const order of ['calls', 'slowest', 'failing'])
    stats.push(await ask(`/api/stats?order=${order}&spanMs=60000`));
  return { pages, stats };
}

describe('the log, for a token that may see one server', () => {
  it('is the same whatever else was called: no page, search, count or sum reveals it', async () => {
    const samples = fc.sample(fc.array(MADE, { minLength: 4, maxLength: 14 }), { numRuns: 2, seed: 7 });
    for (const made of samples) {
      const [whole, part] = [await openStage({ file }), await openStage({ file })];
      made.forEach((one, index) => {
        whole.log.append(toCallRecord(one, index));
        if (isVisible(one)) part.log.append(toCallRecord(one, index));
      });
      const [learned, expected] = [
        await learn(whole, await whole.token(['read'], CAN)),
        await learn(part, await part.token(['read'], CAN)),
      ];
      expect(learned).toEqual(expected);
      // The owner sees all calls.
      const { body } = await whole.ask('GET', '/api/calls?limit=100');
      expect(body.calls).toHaveLength(made.length);
    }
  });

  it('returns no hidden call, neither by its id nor by a search', async () => {
    const stage = await openStage({ file });
    const made: Made[] = (Object.keys(PLACES) as Made['place'][]).map((place) => ({
      place,
      word: `only-${place}`.replaceAll('-', ''),
      failed: false,
      durationMs: 1,
    }));
    made.forEach((one, index) => void stage.log.append(toCallRecord(one, index)));
    const token = await stage.token(['read'], CAN);
    for (const [index, one] of made.entries()) {
      const found = await stage.ask('GET', `/api/calls?search=${one.word}`, { token });
      expect([one.place, (found.body.calls as unknown[]).length]).toEqual([
        one.place,
        isVisible(one) ? 1 : 0,
      ]);
      const { status } = await stage.ask('GET', `/api/calls/call-${index}`, { token });
      expect([one.place, status]).toEqual([one.place, isVisible(one) ? 200 : 404]);
    }
  });

  it('is empty if the token may see none of its servers', async () => {
    const stage = await openStage({ file });
    stage.log.append(toCallRecord({ place: 'tool', word: 'alpha', failed: false, durationMs: 1 }, 0));
    const token = await stage.token(['read'], ['mcp_else']);
    expect((await stage.ask('GET', '/api/calls', { token })).body).toEqual({ calls: [] });
    expect((await stage.ask('GET', '/api/stats?spanMs=1000', { token })).body).toEqual({
      tools: [],
      servers: [],
      overTime: [],
    });
  });
});
