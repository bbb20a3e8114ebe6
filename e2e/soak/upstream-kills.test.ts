import { setTimeout as delay } from 'node:timers/promises';
import { fixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type SoakDaemon, startSoakDaemon } from './attacks-daemon.js';
import { quantile } from './quantile.js';
import { bareStart } from './upstream-kills-bare-start.js';
import { Load, type Loss } from './upstream-kills-load.js';

const KILLS = 20;
const CALLERS = 16;
const SERVERS = ['one', 'two'];
/** How much time the daemon may add to the server's own start. */
const SLACK_MS = 100;
const RETRY_MS = 3;
const GIVE_UP_MS = 10_000;
/** Between two kills: enough time for every caller to call again. */
const SETTLE_MS = 150;
const STARTS = 7;

interface Kill {
  readonly server: string;
  readonly ownStartMs: number;
  readonly backMs: number;
  readonly losses: readonly Loss[];
}

/** The time from the kill to the first success of a call that started after it; failed calls are repeated. */
async function callUntilBack(daemon: SoakDaemon, server: string): Promise<Omit<Kill, 'ownStartMs'>> {
  const body = { server, tool_name: 'echo', arguments: { text: 'back' } };
  const killed = performance.now();
  const losses: Loss[] = [];
  for (;;) {
    const { json } = await daemon.ask('/mcp/call', { body });
    const backMs = performance.now() - killed;
    if (json.success === true) return { server, backMs, losses };
    losses.push({ server, caller: 'probe', code: json.code, error: json.error });
    if (backMs > GIVE_UP_MS) throw new Error(`"${server}" is not back: ${JSON.stringify(json)}`);
    await delay(RETRY_MS);
  }
}

/** One bare start and one kill right after the other, so that both run under the same load. */
async function killOnce(daemon: SoakDaemon, load: Load, server: string): Promise<Kill> {
  const ownStartMs = await bareStart(fixture('echo'));
  const { json } = await daemon.ask(`/api/servers/${server}`);
  process.kill(Number(json.pid), 'SIGKILL');
  const { backMs, losses } = await callUntilBack(daemon, server);
  await delay(SETTLE_MS);
  return { server, ownStartMs, backMs, losses: [...losses, ...load.takeLosses()] };
}

const summarize = (values: readonly number[]): string =>
  `${quantile(values, 0.5).toFixed(0)} ms (slowest ${quantile(values, 1).toFixed(0)})`;

async function startAlone(): Promise<readonly number[]> {
  const starts: number[] = [];
  for (let start = 0; start < STARTS; start += 1) starts.push(await bareStart(fixture('echo')));
  return starts;
}

async function killAll(daemon: SoakDaemon): Promise<readonly Kill[]> {
  const load = new Load(daemon, SERVERS, CALLERS);
  await delay(SETTLE_MS);
  const kills: Kill[] = [];
  for (let number = 0; number < KILLS; number += 1)
    kills.push(await killOnce(daemon, load, SERVERS[number % SERVERS.length] ?? ''));
  await load.end();
  const lost = kills.map(({ losses }) => losses.length);
  process.stdout.write(`${load.answered} calls answered, lost with each kill: ${lost.join(' ')}\n`);
  return kills;
}

it(`a server is killed ${KILLS} times under load: only the calls in flight are lost, and it is soon back`, async () => {
  const daemon = await startSoakDaemon(Object.fromEntries(SERVERS.map((name) => [name, fixture('echo')])));
  onTestFinished(async () => void (await daemon.stop()));
  for (const server of SERVERS) await callUntilBack(daemon, server);
  const alone = await startAlone();
  const kills = await killAll(daemon);
  expect(await daemon.stop()).toBe(0);
  const loaded = kills.map(({ ownStartMs }) => ownStartMs);
  const back = kills.map(({ backMs }) => backMs);
  process.stdout.write(
    `own start ${summarize(alone)}, under load ${summarize(loaded)}; back after ${summarize(back)}\n`,
  );

  expect(kills.flatMap(({ losses }) => losses).length).toBeGreaterThan(KILLS);
  for (const { server, losses } of kills) {
    // Each caller has one call in flight: a caller that loses two had a call refused after the kill.
    const callers = losses.map(({ caller }) => caller);
    expect(callers).toEqual([...new Set(callers)]);
    for (const loss of losses)
      expect(loss).toMatchObject({
        server,
        code: 'CALL_OUTCOME_UNKNOWN',
        error: expect.stringContaining(`"${server}"`),
      });
  }
  expect(quantile(back, 0.5)).toBeLessThan(quantile(alone, 0.5) + SLACK_MS);
  // A single recovery can hit a busy moment of the machine, and so can a bare start.
  expect(quantile(back, 1)).toBeLessThan(quantile(loaded, 1) + SLACK_MS);
});
