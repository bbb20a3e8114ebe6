import { fixture, startFixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { startSoakDaemon } from './attacks-daemon.js';
import { type CallTool, callSteadily, type LoadCall, type LoadSample, openEndpoint } from './faults-load.js';
import { quantile } from './quantile.js';

const GOOD = 15;
const PER_SECOND = 300;
/** Short, so that the servers do not close the connections that wait for the next segment. */
const SEGMENTS = 12;
const SECONDS = 2;
const WARM_UP_SECONDS = 2;
const MAX_ADDED_MS = 25;
const AGENT = 'agent';
const RULES = [{ action: 'allow', caller: AGENT, server: '*', tool: '*' }];
const TIMEOUT_MS = 1_000;
const SLOW_MS = 500;

/** The servers that fault, and the call that makes each of them do it. */
const FAULTS = {
  hang: { config: { ...fixture('slow', '--hang-at', 'call'), callTimeoutMs: TIMEOUT_MS }, tool: 'echo' },
  crash: { config: fixture('crash-mid-call'), tool: 'die' },
  garbage: { config: { ...fixture('fuzzing'), callTimeoutMs: TIMEOUT_MS }, tool: 'spray' },
  slow: { config: fixture('slow', '--answer-ms', String(SLOW_MS)), tool: 'echo' },
  flood: { config: { ...fixture('oversized'), callTimeoutMs: TIMEOUT_MS }, tool: 'stdout_flood' },
};
const ARGUMENTS: Readonly<Record<string, (count: number) => object>> = {
  echo: (count) => ({ text: `call ${count}` }),
  die: () => ({}),
  spray: (count) => ({ seed: count, cases: 20, bytes: 0.3, answer: 'odd' }),
  stdout_flood: () => ({ size: 1_048_576 }),
};

/** A call of a good server; fails with a response to another call. */
function goodCall(server: string, tool: string, call: CallTool): LoadCall {
  let count = 0;
  return {
    server,
    send: async () => {
      count += 1;
      const text = `${server} ${count}`;
      const response = await call(tool, { text });
      if (!JSON.stringify(response.json.result ?? '').includes(JSON.stringify(text)))
        throw new Error(JSON.stringify(response));
      return response;
    },
  };
}

function faultCalls(call: CallTool): readonly LoadCall[] {
  let count = 0;
  return Object.entries(FAULTS).map(([server, { tool }]) => ({
    server,
    send: () => {
      count += 1;
      return call(`${server}_${tool}`, ARGUMENTS[tool]?.(count) ?? {});
    },
  }));
}

async function startGoodServers(): Promise<ReadonlyMap<string, string>> {
  const names = Array.from({ length: GOOD }, (_, index) => `good${index}`);
  const flags = ['--era', 'legacy', '--answers', 'json'];
  const started = names.map(async (name): Promise<[string, string]> => {
    const server = await startFixture('echo', { transport: 'http', flags });
    onTestFinished(() => server.stop());
    return [name, server.url];
  });
  return new Map(await Promise.all(started));
}

/** A session of an agent with its own token, whose calls a rule allows. */
async function openAsAgent(good: ReadonlyMap<string, string>): Promise<CallTool> {
  const web = [...good].map(([name, url]) => [name, { type: 'http', url }]);
  const local = Object.entries(FAULTS).map(([name, { config }]) => [name, config]);
  const daemon = await startSoakDaemon(Object.fromEntries([...web, ...local]), { rules: RULES });
  onTestFinished(async () => void (await daemon.stop()));
  const { json } = await daemon.ask('/api/tokens', {
    body: { name: AGENT, can: ['mcp_integration'], access: ['call'] },
  });
  return openEndpoint(`${daemon.url}/mcp`, String(json.token));
}

const isGood = ({ server }: LoadSample): boolean => server.startsWith('good');
const describe = (samples: readonly LoadSample[]): string => {
  const times = samples.map(({ ms }) => ms);
  return `${times.length} calls, p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`;
};

/** How many calls of each server that faults ended how: with which error code, or 'result'. */
function outcomes(samples: readonly LoadSample[]): Record<string, Record<string, number>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const { server, response } of samples) {
    const result = Object(response?.json.result);
    const code: unknown = Object(Object(result._meta)['turnbuckle/error']).code;
    const outcome = typeof code === 'string' ? code : 'result' in (response?.json ?? {}) ? 'result' : 'error';
    counts[server] ??= {};
    counts[server][outcome] = (counts[server][outcome] ?? 0) + 1;
  }
  return counts;
}

it(`at ${PER_SECOND} calls a second, five servers that fault add at most ${MAX_ADDED_MS} ms to a call of a good one`, async ({
  annotate,
}) => {
  const good = await startGoodServers();
  const call = await openAsAgent(good);
  const direct: LoadCall[] = [];
  for (const [name, url] of good) direct.push(goodCall(name, 'echo', await openEndpoint(url)));
  const goodThroughDaemon = [...good.keys()].map((name) => goodCall(name, `${name}_echo`, call));
  const all = [...goodThroughDaemon, ...faultCalls(call)];
  const directRate = (PER_SECOND * GOOD) / all.length;
  const samples: { direct: LoadSample[]; daemon: LoadSample[] } = { direct: [], daemon: [] };
  for (const calls of [direct, all])
    await callSteadily(calls, { perSecond: directRate, seconds: WARM_UP_SECONDS });
  for (let segment = 0; segment < SEGMENTS; segment += 1) {
    samples.direct.push(...(await callSteadily(direct, { perSecond: directRate, seconds: SECONDS })));
    samples.daemon.push(...(await callSteadily(all, { perSecond: PER_SECOND, seconds: SECONDS })));
  }

  const throughDaemon = samples.daemon.filter(isGood);
  const faulty = outcomes(samples.daemon.filter((sample) => !isGood(sample)));
  const slowMs = samples.daemon.filter(({ server }) => server === 'slow').map(({ ms }) => ms);
  const p99 = (of: readonly LoadSample[]): number =>
    quantile(
      of.map(({ ms }) => ms),
      0.99,
    );
  const addedMs = p99(throughDaemon) - p99(samples.direct);
  const figures = `direct: ${describe(samples.direct)}; through the daemon: ${describe(throughDaemon)}; p99 ${addedMs.toFixed(1)} ms more`;
  process.stdout.write(`${figures}\nfaults: ${JSON.stringify(faulty)}\n`);
  await annotate(figures);
  expect([...samples.direct, ...throughDaemon].filter(({ fault }) => fault !== undefined)).toEqual([]);
  // The servers did fault.
  expect(faulty.hang?.CALL_TIMEOUT).toBeGreaterThan(0);
  expect(faulty.crash?.CALL_OUTCOME_UNKNOWN).toBeGreaterThan(0);
  expect(Object.keys(faulty.garbage ?? {}).length).toBeGreaterThan(1);
  // A timer of Node counts whole milliseconds, so it can end up to one early.
  expect(quantile(slowMs, 0)).toBeGreaterThan(SLOW_MS - 1);
  // A call floods before its result, and times out while the flood is slowed down.
  const { result = 0, CALL_TIMEOUT: timeouts = 0 } = faulty.flood ?? {};
  expect(result + timeouts).toBeGreaterThan(0);
  if (process.env.TURNBUCKLE_TIMING === 'strict') expect(addedMs).toBeLessThanOrEqual(MAX_ADDED_MS);
});
