/** Servers of every transport and era that send pseudo-random messages. */
import { fixture, type RunningFixture, startFixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type FuzzDaemon, serveNeighbour, startFuzzDaemon } from './fuzz-daemon.js';
import { BURST, CASES, SEED, SLOWEST_MS } from './settings.js';

const ERAS = ['legacy', 'modern'] as const;
const NETWORKS = [
  { name: 'http_json', transport: 'http', flags: ['--answers', 'json'] },
  { name: 'http_sse', transport: 'http', flags: ['--answers', 'sse'] },
  { name: 'http_odd', transport: 'http', flags: ['--odd-http', '0.3'] },
  { name: 'sse', transport: 'sse', flags: [] },
  { name: 'websocket', transport: 'websocket', flags: [] },
] as const;

/** Hostile servers by name; the network ones run until the test is over. */
async function openHostile(): Promise<Record<string, object>> {
  const patient = { connectTimeoutMs: 5_000, callTimeoutMs: 2_000, reconnect: { initialMs: 20, maxMs: 100 } };
  const servers: Record<string, object> = {};
  for (const era of ERAS) {
    const flags = ['--era', era, '--odd-lists', '--seed', String(SEED)];
    servers[`stdio_${era}`] = { ...fixture('fuzzing', ...flags), ...patient };
    servers[`stdio_odd_${era}`] = { ...fixture('fuzzing', ...flags, '--odd-answers', '0.2'), ...patient };
    for (const network of NETWORKS) {
      // The SSE transport exists only in the legacy era.
      if (network.transport === 'sse' && era === 'modern') continue;
      const running: RunningFixture = await startFixture('fuzzing', {
        transport: network.transport,
        flags: [...flags, ...network.flags],
      });
      onTestFinished(() => running.stop());
      servers[`${network.name}_${era}`] = { type: network.transport, url: running.url, ...patient };
    }
  }
  return servers;
}

/** Outcomes of a call that did not reach the server, so that it sent no messages. */
const NOT_REACHED = new Set(['AUTH_REQUIRED', 'BREAKER_OPEN', 'CONNECT_FAILED', 'CONNECT_TIMEOUT']);

/** Returns how many messages the server sent. */
async function spray(daemon: FuzzDaemon, server: string, { seed, counted }: Spraying): Promise<number> {
  const odd = seed % 3 === 0;
  const args = { seed, cases: BURST, bytes: seed % 4 === 0 ? 0.3 : 0, answer: odd ? 'odd' : 'good' };
  const { success, code } = await daemon
    .call(server, 'spray', args)
    .catch((error: unknown) => ({ success: false, code: String(error) }));
  const outcome = success === true ? 'answered' : String(code);
  counted.set(outcome, (counted.get(outcome) ?? 0) + 1);
  if (!NOT_REACHED.has(outcome)) return BURST;
  // A server that seems to require a sign-in is not retried automatically.
  await daemon.post(`/api/servers/${server}/reconnect`, '{}').catch(() => {});
  return 0;
}

interface Spraying {
  readonly seed: number;
  readonly counted: Map<string, number>;
}

it('no message of any server ends the daemon, and its neighbours are served', async () => {
  const hostile = await openHostile();
  const daemon = await startFuzzDaemon(hostile);
  onTestFinished(async () => void (await daemon.stop()));
  const counted = new Map<string, number>();
  const names = Object.keys(hostile);
  let sent = 0;
  const work = Promise.all(
    names.map(async (name, place) => {
      for (let round = 0; sent < CASES && daemon.exit() === undefined; round += 1) {
        const said = await spray(daemon, name, { seed: SEED + place * 1_000_003 + round, counted });
        sent += said;
      }
    }),
  );
  const { calls, slowestMs, faults } = await serveNeighbour(daemon, work);
  const summary = `${sent} messages, ${JSON.stringify([...counted])}; ${calls} calls of the neighbour, slowest ${slowestMs.toFixed()} ms`;
  expect(daemon.exit(), daemon.said()).toBeUndefined();
  expect(daemon.said()).not.toMatch(/^WARNING|at file:|Unhandled/m);
  expect(faults, summary).toEqual([]);
  expect(slowestMs, summary).toBeLessThan(SLOWEST_MS);
  const listed = await daemon.post(
    '/mcp',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: MODERN } }),
    {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    },
  );
  expect(listed.text).toContain('good_echo');
  // A fuzzer whose messages are not read proves nothing.
  expect(counted.get('answered') ?? 0, summary).toBeGreaterThan(sent / BURST / 10);
  process.stdout.write(`fuzzed by servers: ${summary}\n`);
  expect(await daemon.stop()).toBe(0);
}, 3_600_000);

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
