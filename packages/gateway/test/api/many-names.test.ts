/** For a restricted token, the visibility of each name in the log is decided: many names do not block other requests. */
import { fixture, timeBound } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openStage, type Stage } from './api-stage.js';

const COUNT = 300;
/** A URI with many possible readings: deciding its visibility takes long. */
const slowUri = (at: number): string => `x://${'%25252e/.. ./'.repeat(280)}${at}`;
const file = JSON.stringify({
  servers: { demo: fixture('echo') },
  rules: [{ action: 'deny', kind: 'resource', tool: 'file:///secret/**' }],
});

async function longestBlock<Answer>(send: () => Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  let [ms, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    ms = Math.max(ms, now - last);
    last = now;
  }, 1);
  const answer = await send().finally(() => clearInterval(timer));
  return { answer, ms: Math.max(ms, performance.now() - last) };
}

/** Appends a call of each of these. */
function appendCalls(stage: Stage, kind: 'tool' | 'resource', names: readonly string[]): void {
  for (const [at, tool] of names.entries())
    stage.log.append({
      ...{ server: 'demo', tool, toolName: 'demo_x', kind, decision: 'allow' },
      ...{ id: `call-${at}`, startedAt: Date.now() - 60_000 + at, durationMs: 1, caller: 'agent' },
      ...{ arguments: '{}', argumentsBytes: 2, result: '{}', resultBytes: 2, outcome: 'ok', attempts: 1 },
    });
}

it('names of the log', async () => {
  const stage = await openStage({ file });
  appendCalls(
    stage,
    'resource',
    Array.from({ length: COUNT }, (_, at) => slowUri(at)),
  );
  await stage.log.flush();
  const token = await stage.token(['read'], ['mcp_demo']);
  for (const path of ['/api/calls?limit=2', '/api/stats']) {
    const { answer, ms } = await longestBlock(() => stage.ask('GET', path, { token }));
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.text).toContain('x://');
    expect(ms, path).toBeLessThan(timeBound(150));
  }
}, 60_000);

it('tools are shown, however many other names are in the log', async () => {
  const stage = await openStage({ file });
  await stage.runtime.connectAll();
  const names = [...Array.from({ length: 6_000 }, (_, at) => `a-${String(at).padStart(5, '0')}`), 'echo'];
  appendCalls(stage, 'tool', names);
  await stage.log.flush();
  const token = await stage.token(['read'], ['mcp_demo']);
  const { text } = await stage.ask('GET', '/api/calls?tool=echo', { token });
  expect(JSON.parse(text).calls).toMatchObject([{ tool: 'echo' }]);
}, 60_000);
