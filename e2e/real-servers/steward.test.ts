/** The steward installs and tests published servers from the npm registry of this machine. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Daemon, startDaemon } from '@turnbuckle/gateway';
import { createStewardPart } from '@turnbuckle/steward';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLISHED } from './published-servers.mjs';

type Json = Record<string, unknown>;

const directory = mkdtempSync(path.join(os.tmpdir(), 'turnbuckle-steward-'));
const configFile = path.join(directory, 'config/turnbuckle/mcp.json');
const NAMES = ['everything', 'filesystem', 'memory'] as const;
const DEADLINE_MS = 150_000;

/** As in a registry of servers. The filesystem server needs a directory: one that every sandbox shows, since others have to be added to its settings. */
function recordOf(name: (typeof NAMES)[number]): Json {
  const at = PUBLISHED[name].lastIndexOf('@');
  const [identifier, version] = [PUBLISHED[name].slice(0, at), PUBLISHED[name].slice(at + 1)];
  const packageArguments = name === 'filesystem' ? [{ type: 'positional', value: '/usr/share' }] : [];
  return {
    server: {
      name: `io.github.modelcontextprotocol/${name}`,
      description: `The server ${name}.`,
      version,
      packages: [
        { registryType: 'npm', identifier, version, transport: { type: 'stdio' }, packageArguments },
      ],
    },
    _meta: {},
  };
}

let daemon: Daemon;
beforeAll(async () => {
  mkdirSync(path.dirname(configFile), { recursive: true });
  const registry = path.join(directory, 'registry.json');
  writeFileSync(registry, JSON.stringify({ servers: NAMES.map(recordOf) }));
  const steward = {
    registries: [{ file: registry }],
    allow: [{ type: 'npm', scope: '@modelcontextprotocol' }],
    minAgeDays: 0,
  };
  writeFileSync(configFile, JSON.stringify({ steward }));
  daemon = await startDaemon({
    version: '0.0.0',
    stateDir: path.join(directory, 'state'),
    cwd: directory,
    environment: { ...process.env, XDG_CONFIG_HOME: path.join(directory, 'config') },
    port: 0,
    parts: [createStewardPart({ cwd: directory })],
  });
});
afterAll(async () => {
  await daemon.close(2_000);
  await rm(directory, { recursive: true, force: true });
});

async function api(method: string, route: string, body?: Json): Promise<Json> {
  const response = await fetch(daemon.url + route, {
    method,
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Json;
}

/** Says yes to everything until the request has ended. */
async function finish(id: string): Promise<Json> {
  for (const start = performance.now(); performance.now() - start < DEADLINE_MS; await pause(100)) {
    const status = await api('GET', `/api/steward/requests/${id}`);
    if (['completed', 'failed', 'cancelled'].includes(String(status.state))) return status;
    const { approvals } = await api('GET', '/api/steward/approvals');
    for (const { id: approval, requestId } of approvals as Json[])
      if (requestId === id) await api('POST', `/api/steward/approvals/${approval}`, { answer: 'yes' });
  }
  throw new Error(`The request "${id}" did not end.`);
}

const request = async (type: string, params: Json): Promise<Json> =>
  finish(String((await api('POST', '/api/steward/requests', { type, params })).requestId));

// requirement E3
describe.each(NAMES)('the published server %s', (name) => {
  it('is installed, tested and enabled by the steward', { timeout: 2 * DEADLINE_MS }, async () => {
    const added = await request('add_server', { registryName: `io.github.modelcontextprotocol/${name}` });
    expect(added, JSON.stringify(added)).toMatchObject({ state: 'completed', result: { serverName: name } });
    const { tools, report } = added.result as { tools: string[]; report: Json };
    expect(tools.length).toBeGreaterThan(5);
    expect(['pass', 'warn']).toContain(report.verdict);
    const { servers } = JSON.parse(readFileSync(configFile, 'utf8')) as { servers: Json };
    expect(servers).toHaveProperty(name);
    const tested = await request('test_server', { serverName: name });
    expect(tested, JSON.stringify(tested)).toMatchObject({ state: 'completed' });
  });
});
