/** The system's clock is set while something waits: the wait ends when it should, neither later nor sooner. */
import { fixture, movableClock, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { listFiles, readText, withoutComments } from '../docs/repository.js';
import { ONCE, openRuntime, record } from './open-runtime.js';

const HOUR_MS = 3_600_000;
const WAIT_MS = 2_000;
const MOVES = [
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
] as const;

/** Installed before the runtime is created, which keeps a reference to `Date.now`. */
function installClock(): (ms: number) => void {
  const clock = movableClock();
  onTestFinished(clock.restore);
  return clock.move;
}

it.each(MOVES)('an open breaker, when the clock is set %s', async (_, ms) => {
  const move = installClock();
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const flags = ['--at', 'start', '--times', '1000', '--state-file', directory.file('starts')];
  const server = {
    ...fixture('flaky', ...flags),
    era: 'legacy' as const,
    start: 'lazy' as const,
    reconnect: ONCE,
  };
  const runtime = await openRuntime({ servers: { server }, breaker: { failures: 1, openMs: WAIT_MS } });
  const outcome = (): Promise<string> =>
    runtime.callTool('server', 'echo', {}).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
  const from = performance.now();
  expect(await outcome()).not.toBe('BREAKER_OPEN');
  expect(await outcome()).toBe('BREAKER_OPEN');
  move(ms);
  await waitUntil(async () => (await outcome()) !== 'BREAKER_OPEN');
  expect(performance.now() - from).toBeGreaterThan(WAIT_MS - 1);
});

it.each(MOVES)('a list with a limited lifetime, when the clock is set %s', async (_, ms) => {
  const move = installClock();
  const flags = ['--era', 'modern', '--ttl-ms', String(WAIT_MS)];
  const runtime = await openRuntime({ servers: { server: fixture('echo', ...flags) } });
  const reads = record(runtime, 'catalog.read');
  const from = performance.now();
  await runtime.connectAll();
  move(ms);
  await waitUntil(() => {
    runtime.tools();
    return reads.some(({ reason }) => reason === 'stale');
  });
  expect(performance.now() - from).toBeGreaterThan(WAIT_MS - 1);
});

/** Files that read the system's clock, and why they may. For durations there is `monotonicNow`. */
const TIMESTAMPS: Readonly<Record<string, string>> = {
  'packages/core/src/config/trust/trust.ts': 'stored: when a person agreed',
  'packages/core/src/connection/transports/http/http-error.ts': 'compared with a date in Retry-After',
  'packages/core/src/errors.ts': 'shown: when an error happened',
  'packages/core/src/files/lock-record.ts':
    'stored: since when, and the file time that shows that it is held',
  'packages/core/src/files/process-identity.ts': 'compared with file times and the start of the machine',
  'packages/core/src/runtime/configured.ts': 'passed to the trust store',
  'packages/core/src/runtime/wire.ts': 'the clock for timestamps of a runtime',
  'packages/core/src/vault/vault.ts': 'stored, and compared with file times',
  'packages/agent/src/daemon/agent-clock.ts': 'the clock for timestamps of the agent',
  'packages/cli/src/chat/list-conversations.ts': 'shown: whether a conversation changed today',
  'packages/cli/src/commands/energy.ts': 'compared with the stored times of calls',
  'packages/cli/src/commands/search.ts': 'compared with the time of the cached list',
  'packages/cli/src/steward/steward-requests.ts': 'stored: when a request was made',
  'packages/steward/src/daemon/part.ts': 'the clock for timestamps of the steward',
  'packages/steward/src/daemon/steward-host.ts': 'stored: when a request was made',
  'packages/steward/src/queue/queue-client.ts': 'stored, and compared with leases of other processes',
  'packages/steward/src/workers/worker.ts': 'stored, and compared with leases of other processes',
  'packages/store/src/ingest-journal.ts': 'compared with the stored times of calls',
  'packages/store/src/ingest.ts': 'compared with file times',
  'packages/store/src/journal.ts': 'names of segments, and how other processes judge their file times',
  'packages/store/src/log-worker.ts': 'compared with the stored times of calls',
  'packages/gateway/src/api/events/event-feed.ts': 'shown: when an event happened',
  'packages/gateway/src/api/pending-sign-ins.ts': 'shown: since when a sign-in waits',
  'packages/gateway/src/daemon/daemon.ts': 'shown: since when the daemon runs',
  'packages/gateway/src/identity/identity-end.ts': 'compared with the expiry of a token',
  'packages/gateway/src/incidents/operator-log.ts': 'stored and shown: when something happened',
  'packages/gateway/src/telemetry/span-clock.ts': 'exported: when a request started',
  'packages/gateway/src/telemetry/telemetry.ts': 'exported: since when durations are counted',
  'packages/gateway/src/log/server-log.ts': 'stored: when a server changed',
  'packages/gateway/src/mcp/sealed/task-ids.ts': 'sealed into ids that outlive the process',
  'packages/gateway/src/metrics/process-metrics.ts': 'shown: when the process started',
  'packages/gateway/src/tokens/jwt-verifier.ts': 'compared with the expiry of a token',
  'packages/gateway/src/tokens/token-file.ts': 'reads once',
  'packages/gateway/src/tokens/token-store.ts': 'stored, and compared with the expiry of a token',
  'packages/cli/src/commands/calls.ts': 'compared with the stored times of calls',
  'packages/cli/src/commands/incidents.ts': 'compared with the stored times of incidents',
  'packages/cli/src/commands/logs.ts': 'shown: when a line came',
  'packages/cli/src/commands/stats.ts': 'compared with the stored times of calls',
  'packages/cli/src/commands/token.ts': 'compared with the expiry of a token',
  'packages/cli/src/daemon/pending-approvals.ts': 'compared with the expiry that the daemon shows',
  'packages/cli/src/history/log-lines.ts': 'shown: whether a call was today',
  'packages/cli/src/serve/demo-tools.ts': 'shown: a tool that tells the time',
};

it("every reader of the system's clock is known", () => {
  const found = listFiles('packages', /\.ts$/)
    .filter((path) => /^packages\/[^/]+\/src\//.test(path))
    .filter((path) => /\bDate\.now\b|\bnew Date\(\)/.test(withoutComments(readText(path))));
  expect(found.sort()).toEqual(Object.keys(TIMESTAMPS).sort());
});
