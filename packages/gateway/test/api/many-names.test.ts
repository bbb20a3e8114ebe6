/** What a token for some of the servers may know is decided name by name: however many there are, others go on meanwhile. */
import { fixture, timeBound } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openStage, type Stage } from './api-stage.js';

const COUNT = 300;
/** Can be read in many ways, and takes long to decide about. */
const dear = (at: number): string => `x://${'%25252e/.. ./'.repeat(280)}${at}`;
const file = JSON.stringify({
  servers: { demo: fixture('echo') },
  rules: [{ action: 'deny', kind: 'resource', tool: 'file:///secret/**' }],
});

async function longestTurn<Answer>(asking: () => Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  let [ms, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    ms = Math.max(ms, now - last);
    last = now;
  }, 1);
  const answer = await asking().finally(() => clearInterval(timer));
  return { answer, ms: Math.max(ms, performance.now() - last) };
}

function remember(stage: Stage): void {
  for (let at = 0; at < COUNT; at += 1)
    stage.log.append({
      ...{ server: 'demo', tool: dear(at), toolName: 'demo_x', kind: 'resource', decision: 'allow' },
      ...{ id: `call-${at}`, startedAt: Date.now() - 60_000 + at, durationMs: 1, caller: 'agent' },
      ...{ arguments: '{}', argumentsBytes: 2, result: '{}', resultBytes: 2, outcome: 'ok', attempts: 1 },
    });
}

it('names of the log', async () => {
  const stage = await openStage({ file });
  remember(stage);
  await stage.log.flush();
  const token = await stage.token(['look'], ['mcp_demo']);
  for (const path of ['/api/calls?limit=2', '/api/stats']) {
    const { answer, ms } = await longestTurn(() => stage.ask('GET', path, { token }));
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.text).toContain('x://');
    expect(ms, path).toBeLessThan(timeBound(150));
  }
}, 60_000);
