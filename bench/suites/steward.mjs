// The daemon while its steward works through 50 requests: installations, servers that hang and servers that crash.
// Measured are the delay of its event loop, and how soon its agent answers a user in that time.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startDaemon } from '../harness/daemon.mjs';
import { ours } from '../subjects.mjs';

const figures = ['steward-delay', 'steward-cycles'];
const requests = 50;
const pollMs = 50;
const deadlineMs = 300_000;

const server = (start) => `#!/usr/bin/env node
const { createInterface } = require('node:readline');
${start}
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
const tools = [{ name: 'count_' + __filename.length, description: 'Count the words of a text.',
  annotations: { readOnlyHint: true, openWorldHint: false }, inputSchema: { type: 'object' } }];
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1.0.0' } });
  else if (method === 'tools/list') answer(id, { tools });
  else if (method === 'tools/call') answer(id, { content: [{ type: 'text', text: 'done' }] });
});
`;

/** Of ten requests, six install a server, two a server that crashes, and two a server that hangs. */
const starts = ['', '', '', 'process.exit(3);', 'setInterval(() => {}, 9); return;'];
const kinds = Array.from({ length: requests }, (_, index) => ({
  name: `server-${index}`,
  start: starts[index % starts.length] ?? '',
}));
const isHanging = ({ start }) => start.includes('return');

const toPackage = ({ name, start }) => ({
  name: `@acme/${name}`,
  version: '1.0.0',
  files: { 'server.js': server(start) },
  manifest: { bin: { [name]: 'server.js' } },
});

const toRecord = (registryEntry, { name }) =>
  registryEntry({
    name: `io.github.acme/${name}`,
    title: name,
    description: `The server ${name}.`,
    version: '1.0.0',
    repository: `https://github.com/acme/${name}`,
    packages: [
      { registryType: 'npm', identifier: `@acme/${name}`, version: '1.0.0', transport: { type: 'stdio' } },
    ],
  });

/** Answers every message at once. */
const immediateAnswer = { calls: [{ name: 'respond', input: { text: 'Here I am.' } }] };

class Owner {
  #url;
  #headers;

  constructor({ url, token }) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  }

  async get(path) {
    const response = await fetch(new URL(path, this.#url), { headers: this.#headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return path === '/metrics' ? text : JSON.parse(text);
  }

  async post(path, body) {
    const init = { method: 'POST', headers: this.#headers, body: JSON.stringify(body) };
    const response = await fetch(new URL(path, this.#url), init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** The p99 since the last time, in milliseconds. */
  async loopDelayMs() {
    const metrics = await this.get('/metrics');
    const [, seconds] = /event_loop_delay_seconds\{quantile="0.99"\} (\S+)/.exec(metrics) ?? [];
    return Number(seconds) * 1_000;
  }
}

/** Says yes to everything, and cancels the tests of servers that hang. @param {Owner} owner */
async function workThrough(owner) {
  const params = ({ name }) => ({ registryName: `io.github.acme/${name}` });
  const ids = new Map();
  for (const kind of kinds) {
    const { requestId } = await owner.post('/api/steward/requests', {
      type: 'add_server',
      params: params(kind),
    });
    ids.set(requestId, kind);
  }
  const open = new Set(ids.keys());
  for (const until = performance.now() + deadlineMs; open.size > 0; await pause(pollMs)) {
    if (performance.now() > until) throw new Error(`${open.size} requests did not end`);
    const { approvals } = await owner.get('/api/steward/approvals');
    for (const { id } of approvals) await owner.post(`/api/steward/approvals/${id}`, { answer: 'yes' });
    const { requests: listed } = await owner.get(`/api/steward/requests?limit=${requests}`);
    for (const { requestId, state, message } of listed) {
      if (['completed', 'failed', 'cancelled'].includes(state)) open.delete(requestId);
      else if (isHanging(ids.get(requestId)) && message.includes('quarantine'))
        await owner.post(`/api/steward/requests/${requestId}/cancel`, {});
    }
  }
}

/** The number of the latest cycle. @param {Owner} owner */
const latestCycle = async (owner) => (await owner.get('/agent/stats')).cycles;

/** The next cycle of an idle loop begins at the next poll of the steward: not between a look at it and a message. @param {Owner} owner */
async function cycleBegins(owner) {
  for (const before = await latestCycle(owner); ; await pause(pollMs / 10)) {
    const latest = await latestCycle(owner);
    if (latest > before) return latest;
  }
}

/**
 * How many cycles of the loop began after each message, up to the one that asks the model for its answer; one message after
 * the other. @param {Owner} owner
 */
async function talk(owner, { isOver, answeringCycle }) {
  const cycles = [];
  while (!isOver()) {
    const before = await cycleBegins(owner);
    const { conversation } = await owner.post('/message', { text: 'Are you there?' });
    for (;;) {
      const { messages } = await owner.get(`/conversations/${conversation}`);
      if (messages.some(({ kind }) => kind === 'reply')) break;
      await pause(pollMs / 10);
    }
    cycles.push(answeringCycle() - before);
    await owner.post(`/conversations/${conversation}/end`, {});
  }
  return Math.max(...cycles);
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runSteward(context) {
  if (!figures.some(context.wants)) return;
  context.note(figures[0]);
  const { startScriptedServer } = await import('@turnbuckle/model');
  const { registryEntry, startMcpRegistry, startNpmRegistry } = await import('@turnbuckle/testing');
  const home = join(context.scratchDirectory, 'steward');
  const file = join(home, 'config/turnbuckle/mcp.json');
  const npm = await startNpmRegistry({ packages: kinds.map(toPackage) });
  const records = kinds.map((kind) => toRecord(registryEntry, kind));
  const registry = await startMcpRegistry({ records, pageSize: 100 });
  let owner;
  let answering = 0;
  const model = await startScriptedServer(async () => {
    answering = await latestCycle(owner);
    return immediateAnswer;
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    JSON.stringify({
      steward: {
        registries: [{ url: registry.url }],
        npmRegistry: npm.url,
        allow: [{ type: 'npm', scope: '@acme' }],
      },
      agent: {
        model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'scripted' },
        lowEnergy: 'finish',
        energy: { replenishPerSecond: 1_000 },
      },
    }),
  );
  const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: join(home, 'config') };
  const daemon = await startDaemon({ env });
  try {
    owner = new Owner(daemon);
    let isOver = false;
    await owner.loopDelayMs();
    const talking = talk(owner, { isOver: () => isOver, answeringCycle: () => answering });
    // It is awaited later.
    talking.catch(() => {});
    await workThrough(owner).finally(() => {
      isOver = true;
    });
    const cycles = await talking;
    const delayMs = await owner.loopDelayMs();
    context.measurements.record({ figure: figures[0], subject: ours.id, round: 0, value: delayMs });
    context.measurements.record({ figure: figures[1], subject: ours.id, round: 0, value: cycles });
  } catch (error) {
    for (const figure of figures) context.measurements.fail({ figure, subject: ours.id, error });
  } finally {
    await daemon.stop();
    await Promise.all([npm.stop(), registry.stop(), model.close()]);
  }
}
