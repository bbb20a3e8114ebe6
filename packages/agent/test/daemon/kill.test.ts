import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ScriptedServer, startScriptedServer } from '@turnbuckle/model';
import { LogReader, logDirectory, openWorkDatabase } from '@turnbuckle/store';
import {
  createRandom,
  fixture,
  type TemporaryDirectory,
  temporaryDirectory,
  waitUntil,
} from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('killed-agent.mjs', import.meta.url));
const KILLS = 4;

let directory: TemporaryDirectory | undefined;
let model: ScriptedServer | undefined;
let child: ChildProcess | undefined;
afterEach(async () => {
  child?.kill('SIGKILL');
  await model?.close();
  await directory?.remove();
});

async function start(home: TemporaryDirectory, baseUrl: string, diesOnSettled = false) {
  const file = home.file('mcp.json');
  const options = { stateDir: home.file('state'), home: home.path, file, baseUrl, diesOnSettled };
  child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const [line] = (await once(lines, 'line')) as [string];
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    get: async <T>(path: string) => (await (await fetch(url + path, { headers })).json()) as T,
    say: async (text: string) => {
      const body = JSON.stringify({ text });
      const response = await fetch(`${url}/message`, { method: 'POST', headers, body });
      return ((await response.json()) as { conversation: string }).conversation;
    },
  };
}

async function kill(signal: NodeJS.Signals): Promise<void> {
  const exited = child === undefined ? undefined : once(child, 'exit');
  child?.kill(signal);
  await exited;
}

async function prepare(): Promise<{ home: TemporaryDirectory; baseUrl: string }> {
  const home = await temporaryDirectory();
  directory = home;
  const demo = fixture('echo');
  writeFileSync(
    home.file('mcp.json'),
    JSON.stringify({ mcpServers: { demo }, rules: [{ action: 'allow', server: 'demo' }] }),
  );
  model = await startScriptedServer(({ messages, tools }) => {
    const isDone = messages.at(-1)?.role === 'tool' || !tools.includes('demo_sleep');
    return isDone
      ? { calls: [{ name: 'respond', input: { text: 'done' } }] }
      : { calls: [{ name: 'demo_sleep', input: { ms: 60 } }] };
  });
  return { home, baseUrl: model.baseUrl };
}

// requirement E7
describe('an agent that is killed again and again', () => {
  it('loses no message, and deducts exactly what was consumed', async () => {
    const { home, baseUrl } = await prepare();
    const random = createRandom(7);
    const ids: string[] = [];
    for (let round = 0; round < KILLS; round += 1) {
      const agent = await start(home, baseUrl);
      for (let count = 0; count < 3; count += 1) ids.push(await agent.say(`message ${round}-${count}`));
      // Not a wait for something: the moment of the kill is what varies.
      await delay(random() * 400);
      await kill('SIGKILL');
    }
    const agent = await start(home, baseUrl);
    for (const id of ids)
      await waitUntil(async () => {
        const { messages } = await agent.get<{ messages: { kind: string }[] }>(`/conversations/${id}`);
        return messages.some(({ kind }) => kind === 'reply');
      });
    await kill('SIGKILL');
    await start(home, baseUrl);
    await kill('SIGKILL');
    await compareAccounts(home);
  });

  it('finds a call in the log that settled right before the process died', async () => {
    const { home, baseUrl } = await prepare();
    const dying = await start(home, baseUrl, true);
    // The server may not be connected in the first step: then the reply comes without a call.
    const ids: string[] = [];
    const exited = child === undefined ? undefined : once(child, 'exit');
    await waitUntil(async () => {
      if (child?.signalCode === 'SIGKILL') return true;
      await dying.say('work').then(
        (id) => ids.push(id),
        () => {},
      );
      return false;
    });
    await exited;
    const agent = await start(home, baseUrl);
    for (const id of ids) {
      const messages = async () =>
        (await agent.get<{ messages: { kind: string; text: string }[] }>(`/conversations/${id}`)).messages;
      await waitUntil(async () => (await messages()).some(({ kind }) => kind === 'reply'));
    }
    const results = await Promise.all(
      ids.map(async (id) => JSON.stringify(await agent.get(`/conversations/${id}`))),
    );
    expect(results.some((text) => text.includes('slept 60 ms'))).toBe(true);
    await kill('SIGKILL');
    await start(home, baseUrl);
    await kill('SIGKILL');
    await compareAccounts(home);
  });
});

/** The rows of the agent, the regulator, the call log and the file of the steward agree to the last thousandth. */
async function compareAccounts(home: TemporaryDirectory): Promise<void> {
  const database = await openWorkDatabase({ file: home.file('state/work.db'), part: 'test', steps: [] });
  const one = (sql: string): number => Number(Object.values(database.prepare(sql).all()[0] ?? {})[0] ?? 0);
  const recorded = one('SELECT sum(amount) FROM agent_energy WHERE deducted = 1');
  expect(one('SELECT deducted FROM agent_regulator')).toBe(recorded);
  expect(recorded).toBeGreaterThan(0);
  const calls = one("SELECT sum(amount) FROM agent_energy WHERE source = 'call'");
  const steward = one("SELECT sum(amount) FROM agent_energy WHERE source = 'steward'");
  const stewardRows = one("SELECT count(*) FROM agent_energy WHERE source = 'steward'");
  const steps = one("SELECT count(*) FROM agent_messages WHERE kind = 'step'");
  expect(one("SELECT count(*) FROM agent_energy WHERE source = 'model'")).toBe(steps);
  database.close();
  const log = await LogReader.open(logDirectory(home.file('state')));
  const logged = log?.find({ caller: 'agent', limit: 1_000 }) ?? [];
  log?.close();
  expect(calls).toBeGreaterThan(0);
  expect(calls).toBe(logged.reduce((sum, { energy }) => sum + Math.round(Number(energy ?? 0) * 1_000), 0));
  // What the steward wrote last may not have been polled when the process was killed.
  const written = readFileSync(home.file('steward.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('ref"'));
  expect(steward).toBe(stewardRows * 7);
  expect(written.length - stewardRows).toBeLessThanOrEqual(1);
}
