import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createRuntime, type Runtime, TurnbuckleError } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canSeeProcesses, MARK, markedProcesses } from '../../scripts/marked-processes.mjs';
import { ENDPOINTS, type Expectation, expectations } from './expectations.js';
import { listeningServer } from './listening-server.js';
import { PUBLISHED, type PublishedName, serverScript } from './published-servers.mjs';

const names = Object.keys(PUBLISHED) as PublishedName[];
const directory = mkdtempSync(path.join(os.tmpdir(), 'turnbuckle-real-'));
const stateDir = path.join(directory, 'state');
const mark = randomUUID();
const fleet = expectations(directory);
const recordStart = new URL('record-start.mjs', import.meta.url).href;
const startLog = (name: string) => path.join(directory, `${name}.starts`);

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('ten published servers in one runtime, over stdio', () => {
  let runtime: Runtime;

  beforeAll(async () => {
    runtime = await startFleet();
  });
  afterAll(() => runtime.close());

  describe.each(names)('%s', (name) => {
    it('is connected in its era, with all its tools', () => {
      expectConnected(runtime, name, fleet[name]);
      expect(runtime.serverStatus(name).transport).toBe('stdio');
    });

    it.each(fleet[name].calls)('answers $tool: $outcome', (call) => expectCall(runtime, name, call));
  });

  it('leaves no process behind when it closes', async () => {
    if (canSeeProcesses) expect((await markedProcesses(mark)).length).toBeGreaterThanOrEqual(names.length);
    const pids = names.map((name) => runtime.serverStatus(name).pid);
    await runtime.close();
    expect(await markedProcesses(mark)).toEqual([]);
    expect(pids.filter((pid) => pid === undefined || isRunning(pid))).toEqual([]);
  });

  it('starts one process for each server whose era is already cached', async () => {
    const before = await Promise.all(names.map(countStarts));
    const again = await startFleet();
    try {
      for (const name of names) expectConnected(again, name, fleet[name]);
      const after = await Promise.all(names.map(countStarts));
      const started = names.map((name, index) => [name, (after[index] ?? 0) - (before[index] ?? 0)]);
      expect(Object.fromEntries(started)).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
    } finally {
      await again.close();
    }
    expect(await markedProcesses(mark)).toEqual([]);
  });
});

describe('published servers on a port', () => {
  it.each(ENDPOINTS)('$server $path, configured as $type', async (endpoint) => {
    const expected = fleet[endpoint.server];
    const listening = await listeningServer(endpoint, expected);
    const runtime = await createRuntime({
      servers: { [endpoint.server]: { type: endpoint.type, url: listening.url, connectTimeoutMs: 30_000 } },
      stateDir,
    });
    try {
      await runtime.connectAll();
      expectConnected(runtime, endpoint.server, expected);
      expect(runtime.serverStatus(endpoint.server).transport).toBe(endpoint.transport);
      for (const call of expected.calls) await expectCall(runtime, endpoint.server, call);
    } finally {
      await runtime.close();
      await listening.stop();
    }
  });
});

async function startFleet(): Promise<Runtime> {
  const servers = await Promise.all(
    names.map(async (name) => {
      const { args = [], env = {} } = fleet[name];
      const config = {
        command: process.execPath,
        args: ['--import', recordStart, await serverScript(name), ...args],
        env: { ...env, [MARK]: mark, TURNBUCKLE_START_LOG: startLog(name) },
        cwd: directory,
        // Ten servers start at once, on a first start each twice, possibly on two cores.
        connectTimeoutMs: 90_000,
      };
      return [name, config] as const;
    }),
  );
  const runtime = await createRuntime({ servers: Object.fromEntries(servers), stateDir });
  await runtime.connectAll();
  return runtime;
}

function expectConnected(runtime: Runtime, name: PublishedName, expected: Expectation): void {
  const { status, era, protocolVersion, error } = runtime.serverStatus(name);
  expect({ status, era, protocolVersion, error }).toEqual({
    status: 'connected',
    era: expected.era,
    protocolVersion: expected.protocolVersion,
    error: undefined,
  });
  expect(runtime.tools().filter((tool) => tool.server === name)).toHaveLength(expected.tools);
}

async function expectCall(
  runtime: Runtime,
  server: string,
  call: Expectation['calls'][number],
): Promise<void> {
  const settled = runtime.call({ server, tool: call.tool, arguments: call.arguments, timeoutMs: 30_000 });
  if (call.outcome === 'failed') {
    const error = await settled.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TurnbuckleError);
    expect(error).toMatchObject({ code: 'SERVER_ERROR', server, tool: call.tool });
    return;
  }
  const result = await settled;
  expect(result.isError ?? false).toBe(call.outcome === 'tool-error');
  const first = result.content[0];
  if (call.says !== undefined) expect(first?.type === 'text' ? first.text : first).toMatch(call.says);
}

async function countStarts(name: PublishedName): Promise<number> {
  return (await readFile(startLog(name), 'utf8')).trim().split('\n').length;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
