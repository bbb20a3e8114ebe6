// Calls through the daemon: ten stdio servers with ten tools each, a bare HTTP client, everything enabled (log,
// metrics, policy), compared with the same client directly at a bare HTTP server.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BareClient } from '../harness/bare-client.mjs';
import { startHttpServer, stdioServer } from '../harness/bare-server.mjs';
import { calm } from '../harness/calm.mjs';
import { startDaemon } from '../harness/daemon.mjs';
import { median, shuffle } from '../harness/statistics.mjs';
import { ours } from '../subjects.mjs';

const servers = 10;
const toolsEach = 10;
const calls = 150;
const inFlight = 64;
const flights = 1_280;
const lists = 30;
const sessions = 1_000;

const at = (name) => fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url));
const specs = Array.from({ length: servers }, (_, index) => stdioServer(`s${index}`, { tools: toolsEach }));

/** @typedef {{ url: string, token?: string, pid: number, stop: () => Promise<unknown> }} Running */

let count = 0;

/** @param {string} scratch @param {object} [daemon] */
async function startOurs(scratch, daemon = {}) {
  count += 1;
  const home = join(scratch, `daemon-${count}`);
  mkdirSync(home, { recursive: true });
  const config = join(home, 'mcp.json');
  const entries = specs.map(({ name, command, args }) => [name, { command, args }]);
  writeFileSync(config, JSON.stringify({ servers: Object.fromEntries(entries), daemon }));
  return startDaemon({
    config,
    env: { ...process.env, HOME: home, TURNBUCKLE_STATE_DIR: join(home, 'state') },
  });
}

/** @returns {Promise<Running>} */
async function startFloor() {
  const args = [at('floor-gateway'), JSON.stringify(specs)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const line = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', resolve);
    child.once('exit', (code) => reject(new Error(`the floor ended with ${code}`)));
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.stdin.end();
    await ended;
  };
  return { ...JSON.parse(line), pid: child.pid ?? 0, stop };
}

/** Resolves when all tools are listed. @param {Running} running */
async function openClient(running) {
  const client = await new BareClient(running).initialize();
  const until = performance.now() + 30_000;
  for (;;) {
    const { tools } = await client.request('tools/list', {});
    if (tools.length >= servers * toolsEach) return client;
    if (performance.now() > until) throw new Error(`${tools.length} tools after 30 s`);
  }
}

const call = (client, name) => client.request('tools/call', { name, arguments: { text: 'hello' } });

/** @param {() => Promise<unknown>} work @param {number} times */
async function medianOf(work, times) {
  const samples = [];
  for (let index = 0; index < times; index++) {
    const began = performance.now();
    await work();
    samples.push(performance.now() - began);
  }
  return median(samples);
}

/**
 * The medians of two clients that differ little: they call in turns, so that other work on the machine affects both.
 * @param {BareClient[]} clients @param {(client: BareClient) => Promise<unknown>} work @param {number} times
 */
async function inTurns(clients, work, times) {
  const samples = clients.map(() => []);
  for (let index = 0; index < times; index++)
    for (const turn of shuffle([...clients.keys()])) {
      const began = performance.now();
      await work(clients[turn]);
      samples[turn].push(performance.now() - began);
    }
  return samples.map(median);
}

/** @param {BareClient} client @param {(index: number) => string} nameOf */
async function throughput(client, nameOf) {
  let next = 0;
  const began = performance.now();
  const worker = async () => {
    for (let index = next++; index < flights; index = next++) await call(client, nameOf(index));
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return flights / (performance.now() - began);
}

/** Resident memory in bytes. @param {number} pid */
const memoryOf = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1_024;

/** @param {import('../harness/rounds.mjs').RunContext} context */
async function runSteady(context) {
  const { measurements, scratchDirectory } = context;
  const direct = await startHttpServer('direct', { tools: servers * toolsEach });
  const logged = await startOurs(scratchDirectory);
  const silent = await startOurs(scratchDirectory, { log: { enabled: false } });
  const record = (figure, round, value) => measurements.record({ figure, subject: ours.id, round, value });
  try {
    const base = await new BareClient({ url: direct.spec.url ?? '' }).initialize();
    const front = await openClient(logged);
    const bare = await openClient(silent);
    const idle = memoryOf(logged.pid);
    const ofOurs = (index) => `s${index % servers}_echo`;
    for (let warm = 0; warm < 3; warm++)
      for (const [client, nameOf] of [
        [base, () => 'echo'],
        [front, ofOurs],
        [bare, ofOurs],
      ]) {
        await medianOf(() => call(client, nameOf(0)), calls * 2);
        await throughput(client, nameOf);
        await medianOf(() => client.request('tools/list', {}), lists);
      }
    for (let round = 0; round < context.rounds * 2; round++) {
      await calm();
      const p50 = new Map();
      for (const [key, client, name] of shuffle([
        ['direct', base, 'echo'],
        ['front', front, 's0_echo'],
      ]))
        p50.set(key, await medianOf(() => call(client, name), calls));
      record('gateway-call', round, p50.get('front') / p50.get('direct'));
      const [withLog, without] = await inTurns([front, bare], (client) => call(client, 's0_echo'), calls);
      record('gateway-log', round, withLog / without);
      const through = await throughput(front, ofOurs);
      record('gateway-in-flight', round, through / (await throughput(base, () => 'echo')));
      const listed = await medianOf(() => front.request('tools/list', {}), lists);
      record('gateway-list', round, listed / (await medianOf(() => base.request('tools/list', {}), lists)));
    }
    record('gateway-memory', 0, idle / 1_048_576);
    await measureSessions(silent, (value) => record('gateway-session', 0, value));
    for (const client of [base, front, bare]) client.close();
  } finally {
    direct.stop();
    await Promise.all([logged.stop(), silent.stop()]);
  }
}

/** The memory per legacy session, from the memory of the process after many sessions. */
async function measureSessions(running, record) {
  const client = new BareClient(running);
  const open = async (many) => {
    for (let index = 0; index < many; index++) await new BareClient(running).initialize();
  };
  await open(50);
  const before = memoryOf(running.pid);
  await open(sessions / 10);
  record((memoryOf(running.pid) - before) / (sessions / 10) / 1_024);
  client.close();
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
async function runReady(context) {
  const { measurements, scratchDirectory } = context;
  const readyOf = async (starting) => {
    const began = performance.now();
    const running = await starting();
    const client = await openClient(running);
    const ms = performance.now() - began;
    client.close();
    await running.stop();
    return ms;
  };
  for (let round = 0; round < Math.min(context.rounds, 7); round++) {
    await calm();
    const own = await readyOf(() => startOurs(scratchDirectory));
    const floor = await readyOf(startFloor);
    measurements.record({ figure: 'gateway-ready', subject: ours.id, round, value: own / floor });
  }
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runGateway(context) {
  const steady = [
    'gateway-call',
    'gateway-in-flight',
    'gateway-list',
    'gateway-log',
    'gateway-memory',
    'gateway-session',
  ];
  for (const [figures, run] of [
    [steady, runSteady],
    [['gateway-ready'], runReady],
  ]) {
    if (!figures.some((figure) => context.wants(figure))) continue;
    context.note(figures[0]);
    try {
      await run(context);
    } catch (error) {
      for (const figure of figures) context.measurements.fail({ figure, subject: ours.id, error });
    }
  }
}
