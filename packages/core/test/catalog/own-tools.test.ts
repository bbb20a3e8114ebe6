/** The lists of callers at a server that lists tools only with their credentials: bounded in work and in waiting. */
import { waitUntil } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answerAsOlder, ownHttpServer, sendJson } from '../lifecycle/own-http-server.js';
import { gate } from './link-server.js';

const caller = (id: string, ...capabilities: string[]): Caller => ({
  id,
  capabilities: capabilities.length > 0 ? capabilities : ['mcp_integration'],
});

interface Stage {
  readonly runtime: Runtime;
  /** How many requests the server got with the key of a caller. */
  requests(): number;
}

interface StageOptions extends RuntimeOptions {
  readonly tools?: readonly string[];
  /** The server answers a caller only then. */
  readonly answersAfter?: Promise<void>;
}

/** A server that fails without the key of a caller. */
async function open({ tools = ['look', 'send'], answersAfter, ...options }: StageOptions): Promise<Stage> {
  let requests = 0;
  const url = await ownHttpServer(async (asked, response, { headers }) => {
    if (headers['x-key'] === undefined) return sendJson(response, {}, 500);
    requests += 1;
    await answersAfter;
    answerAsOlder(asked, response, tools);
  });
  const runtime = await createRuntime({
    defaultDecision: 'allow',
    ...options,
    servers: {
      s: {
        url,
        era: 'legacy',
        // A busy machine needs longer than the server that does not answer may take.
        listTimeoutMs: answersAfter === undefined ? 10_000 : 200,
        connectTimeoutMs: 60_000,
        reconnect: { tries: 0 },
        credentials: { ada: { headers: { 'X-Key': 'ada' } } },
      },
    },
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  return { runtime, requests: () => requests };
}

const namesOf = async (runtime: Runtime, who: Caller): Promise<string[]> =>
  (await runtime.visibleTools(who)).map(({ tool }) => tool);

describe('the list of a caller', () => {
  it('is filtered a little at a time, and only once', async () => {
    const tools = Array.from({ length: 1_000 }, (_, index) => `tool${index}${'x'.repeat(200)}`);
    const deny = Array.from({ length: 100 }, (_, index) => ({
      action: 'deny' as const,
      tool: `*drop?table${index}*`,
    }));
    const { runtime } = await open({ tools, rules: deny });
    expect(await namesOf(runtime, caller('ada'))).toHaveLength(1_000);
    runtime.setRules(runtime.rules);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const lists = await Promise.all([1, 2, 3].map(() => runtime.visibleTools(caller('ada'))));
    isDone = true;
    expect(lists[0]).toHaveLength(1_000);
    expect(new Set(lists).size).toBe(1);
    expect(turns).toBeGreaterThan(5);
  });

  it('waits for a connection that hangs, but not for long and not again, and has its tools later', async () => {
    const { opened: answersAfter, open: answer } = gate();
    onTestFinished(answer);
    const { runtime, requests } = await open({ answersAfter });
    expect(await namesOf(runtime, caller('ada'))).toEqual([]);
    expect(requests()).toBe(1);
    const begun = performance.now();
    for (let time = 0; time < 20; time += 1) expect(await namesOf(runtime, caller('ada'))).toEqual([]);
    // Less than twenty times the limit of the server.
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(requests()).toBe(1);
    answer();
    await waitUntil(async () => (await namesOf(runtime, caller('ada'))).length === 2);
  });

  it('connects no server that the caller may not use', async () => {
    const { runtime, requests } = await open({});
    expect(await namesOf(runtime, caller('ada', 'mcp:other'))).toEqual([]);
    expect(requests()).toBe(0);
    const denied = await open({ rules: [{ action: 'deny', server: 's' }] });
    expect(await namesOf(denied.runtime, caller('ada'))).toEqual([]);
    expect(denied.requests()).toBe(0);
  });

  it.each([
    { what: 'a capability', who: caller('ada', 'mcp:s/look'), rules: [] },
    {
      what: 'a rule',
      who: caller('ada'),
      rules: [{ action: 'allow' as const, tool: 'l*k' }, { action: 'deny' as const }],
    },
  ])('has the only tool that $what allows', async ({ who, rules }) => {
    const { runtime } = await open({ rules });
    expect(await namesOf(runtime, who)).toEqual(['look']);
  });
});
