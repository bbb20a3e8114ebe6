/** Every search has a limited number of words, and an expensive one does not block other requests. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { timeBound, waitUntil } from '@turnbuckle/testing';
import { createRuntime, type Runtime } from 'turnbuckle';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { type OwnDaemon, ownDaemon } from './own-daemon.js';

const COUNT = 1_000;
/** Expensive to search: nearly every position looks like the start of a match. */
const description = `${'e'.repeat(2_000)}ez`;
const CALLER = { id: 'agent', capabilities: ['mcp_integration'] };

let up: Upstream;
let own: OwnDaemon;
let runtime: Runtime;
beforeAll(async () => {
  const tools = Array.from({ length: COUNT }, (_, at) => ({
    ...{ name: `tool${at}`, description },
    inputSchema: { type: 'object' },
  }));
  up = await openUpstream({ tools });
  const servers = { up: { url: up.url, start: 'eager' as const } };
  own = await ownDaemon({ servers });
  runtime = await createRuntime({ servers });
  await runtime.connectAll();
  await waitUntil(async () => (await find('/tools')) === COUNT);
});
afterAll(async () => {
  await runtime.close();
  await own.close();
  await up.close();
});

async function find(path: string): Promise<number> {
  const answer = (await (await own.fetch(path)).json()) as { readonly tools: readonly object[] };
  return answer.tools.length;
}

const words = (count: number): string => Array.from({ length: count }, (_, at) => `w${at + 10}`).join(' ');
/** The same limits apply everywhere. */
const TOO_MUCH = { characters: 'ez '.repeat(2_000), words: words(17) };

it.each(
  ['/tools', '/api/tools', '/api/calls'].flatMap((path) =>
    Object.entries(TOO_MUCH).map(([what, search]) => ({ path, what, search })),
  ),
)('$path: too many $what are refused', async ({ path, search }) => {
  const answer = await own.fetch(`${path}?search=${encodeURIComponent(search)}`);
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({
    code: 'ARGUMENTS_INVALID',
    error: expect.stringMatching(
      /(256 characters|characters, maximum 256)|(16 different words|different words, maximum 16)/,
    ),
  });
});

it.each(Object.entries(TOO_MUCH))('the library refuses too many %s', async (_what, search) => {
  expect(() => runtime.toolsForAgent(CALLER, search)).toThrow(/maximum/);
  const refusal = { code: 'ARGUMENTS_INVALID' };
  await expect(runtime.visibleTools(CALLER, search)).rejects.toMatchObject(refusal);
  await expect(runtime.visibleTools(undefined, search)).rejects.toMatchObject(refusal);
});

it.each(['/tools', '/api/tools'])(
  '%s: a search with the maximum number of words does not block other requests',
  async (path) => {
    const costly = Array.from({ length: 15 }, (_, at) => `${'e'.repeat(at + 1)}z`)
      .join(' ')
      .slice(0, 240);
    expect(await find(`${path}?search=${encodeURIComponent('tool7 EZ')}`)).toBe(111);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    expect(await find(`${path}?search=${encodeURIComponent(`${costly} nowhere`)}`)).toBe(0);
    delay.disable();
    expect(delay.max / 1e6).toBeLessThan(timeBound(100));
  },
);

it('a repeated word counts once', async () => {
  expect(await find(`/tools?search=${encodeURIComponent('ez EZ '.repeat(40))}`)).toBe(COUNT);
});
