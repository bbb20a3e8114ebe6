import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { fixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type SoakDaemon, startSoakDaemon } from './attacks-daemon.js';
import { HealthyClient, type Sample } from './attacks-healthy-client.js';
import { quantile } from './quantile.js';

const MAX_RESPONSE_MS = 250;
const QUIET_MS = 2_000;
const SWARM = fileURLToPath(new URL('attacks-swarm.mjs', import.meta.url));

interface Address {
  readonly method: string;
  readonly path: string;
  readonly isOpen: boolean;
}

interface Outcome {
  /** How often each kind of attack had which outcome: an HTTP status, or closed without one. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly letIn: readonly object[];
}

/** Every route of the daemon, from its own OpenAPI description. */
async function addressesOf(daemon: SoakDaemon): Promise<readonly Address[]> {
  const { json } = await daemon.ask('/openapi.json');
  const paths = json.paths as Record<string, Record<string, { 'x-access': string }>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{[^}]*\}/g, 'up'),
      isOpen: route['x-access'] === 'open',
    })),
  );
}

async function attack({ url, token }: SoakDaemon, addresses: readonly Address[]): Promise<Outcome> {
  const child = spawn(process.execPath, [SWARM, JSON.stringify({ url, token, addresses })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const output = await text(child.stdout);
  await exited;
  return JSON.parse(output) as Outcome;
}

function summarize(samples: readonly Sample[]): string {
  const times = samples.map(({ ms }) => ms);
  const at = (share: number): string => quantile(times, share).toFixed(1);
  return `${times.length} calls, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`;
}

it('every route is attacked at once in every way: all attacks are refused, and other clients are not delayed', async () => {
  const daemon = await startSoakDaemon({ up: fixture('echo') });
  onTestFinished(async () => void (await daemon.stop()));
  const addresses = await addressesOf(daemon);
  expect(addresses.length).toBeGreaterThan(40);
  const client = await HealthyClient.open(daemon, 'up');
  const quiet = await client.callDuring(new Promise((resolve) => setTimeout(resolve, QUIET_MS)));
  const attacking = attack(daemon, addresses);
  const samples = await client.callDuring(attacking);
  const { outcomes, letIn } = await attacking;
  process.stdout.write(
    `attacks: ${JSON.stringify(outcomes)}\nbefore: ${summarize(quiet)}\nmeanwhile: ${summarize(samples)}\n`,
  );
  for (const way of new Set(samples.map(({ route }) => route)))
    process.stdout.write(`  ${way}: ${summarize(samples.filter((sample) => sample.route === way))}\n`);
  const code = await daemon.stop();

  expect(letIn).toEqual([]);
  for (const [kind, answers] of Object.entries(outcomes)) {
    const count = Object.values(answers).reduce((sum, each) => sum + each, 0);
    expect(count, kind).toBeGreaterThan(addresses.length / 2);
  }
  expect(samples.filter(({ fault }) => fault !== undefined)).toEqual([]);
  expect(Math.max(...samples.map(({ ms }) => ms))).toBeLessThan(MAX_RESPONSE_MS);
  expect(code).toBe(0);
});
