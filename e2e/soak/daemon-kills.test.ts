import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fixture, isAlive, temporaryDirectory } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openDatabase } from '../../packages/store/src/database.js';

const KILLS = Number(process.env.SOAK_KILLS ?? 200);
const CALLERS = 8;
const READY_MS = 1_000;
const SCRIPT = fileURLToPath(new URL('daemon.mjs', import.meta.url));

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
  readonly readyMs: number;
}

async function start(stateDir: string, file: string): Promise<Running> {
  const began = performance.now();
  const child = spawn(process.execPath, [SCRIPT, stateDir, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return { child, ...JSON.parse(String(line)), readyMs: performance.now() - began };
}

async function call({ url, token }: Running, body: object): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(`${url}/mcp/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Calls until the daemon is gone; records a call when its complete response has arrived. */
async function callUntilGone(running: Running, answered: string[], prefix: string): Promise<void> {
  for (let number = 0; ; number += 1) {
    const text = `${prefix}-${number}`;
    const answer = await call(running, { server: 'up', tool_name: 'echo', arguments: { text } });
    if (answer === undefined) return;
    if (answer.success === true) answered.push(text);
  }
}

async function serverPid(running: Running): Promise<number> {
  const answer = await call(running, { server: 'up', tool_name: 'pid' });
  const result = answer?.result as { content: Array<{ text: string }> } | undefined;
  return Number(result?.content[0]?.text);
}

it(`a daemon is killed ${KILLS} times under load: no answered call is lost, and no process is left behind`, async () => {
  const home = await temporaryDirectory();
  const stateDir = home.file('state');
  mkdirSync(stateDir, { recursive: true });
  const file = home.file('mcp.json');
  writeFileSync(file, JSON.stringify({ servers: { up: fixture('echo') } }));
  const answered: string[] = [];
  const ready: number[] = [];
  let orphan: number | undefined;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const running = await start(stateDir, file);
    ready.push(running.readyMs);
    const pid = await serverPid(running);
    const calling = Array.from({ length: CALLERS }, (_, caller) =>
      callUntilGone(running, answered, `k${kill}-c${caller}`),
    );
    await new Promise((resolve) => setTimeout(resolve, 30 + ((kill * 37) % 300)));
    running.child.kill('SIGKILL');
    await Promise.all(calling);
    // This daemon has ended the server process that the previous one left behind.
    if (orphan !== undefined) expect(isAlive(orphan)).toBe(false);
    orphan = pid;
  }
  const last = await start(stateDir, file);
  await serverPid(last);
  last.child.kill('SIGTERM');
  const [code] = await once(last.child, 'exit');
  expect(code).toBe(0);
  if (orphan !== undefined) expect(isAlive(orphan)).toBe(false);
  const database = await openDatabase(`${stateDir}/log/log.db`, { readOnly: true });
  const rows = database.prepare("SELECT arguments FROM invocations WHERE tool = 'echo'").all() as Array<{
    arguments: string;
  }>;
  const [integrity] = database.prepare('PRAGMA integrity_check').all() as Array<Record<string, unknown>>;
  database.close();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const { text } = JSON.parse(row.arguments) as { text: string };
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  expect(answered.length).toBeGreaterThan(KILLS);
  expect(answered.filter((text) => counts.get(text) !== 1)).toEqual([]);
  expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
  expect(integrity).toMatchObject({ integrity_check: 'ok' });
  ready.sort((left, right) => left - right);
  if (process.env.TURNBUCKLE_TIMING === 'strict')
    expect(ready[Math.floor(ready.length / 2)]).toBeLessThanOrEqual(READY_MS);
  process.stdout.write(
    `${answered.length} answered calls, ready after ${Math.round(ready[Math.floor(ready.length / 2)] ?? 0)} ms (median)\n`,
  );
  await home.remove();
});
