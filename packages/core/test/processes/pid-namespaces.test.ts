import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fixture, processesWithEnvironment, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime } from '../lifecycle/open-runtime.js';

const SPACE = ['--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = process.platform === 'linux' && spawnSync('unshare', [...SPACE, 'true']).status === 0;

it.skipIf(!canUnshare)('the sweep spares processes of a live host in a container', async () => {
  const directory = await temporaryDirectory();
  const mark = randomUUID();
  const marked = (): number[] => processesWithEnvironment('CYCLE', mark);
  const servers = { echo: { ...fixture('echo'), env: { CYCLE: mark } } };
  const program = fileURLToPath(new URL('host.mjs', import.meta.url));
  const options = JSON.stringify({ servers, stateDir: directory.path, ending: 'exit', mark });
  const host = spawn('unshare', [...SPACE, process.execPath, program, options], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    await waitUntil(() => marked().length === 1, 10_000);
    const runtime = await openRuntime({});
    // The sweep runs right after the runtime was created.
    await delay(200);
    expect(runtime.status()).toEqual([]);
    expect(marked().length).toBe(1);
  } finally {
    host.kill('SIGKILL');
    await waitUntil(() => marked().length === 0);
    await directory.remove();
  }
});
