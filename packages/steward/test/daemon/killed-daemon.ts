/** A daemon in a process of its own that is closed with kill -9. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { DaemonPlace, StagedDaemon } from './stage.js';

export interface KilledDaemon extends StagedDaemon {
  /** The p99 of the delay of its event loop since the last time, in milliseconds. */
  loopDelay(): Promise<number>;
}

export async function openKilledDaemon(place: DaemonPlace): Promise<KilledDaemon> {
  const script = fileURLToPath(new URL('daemon-process.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(place)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  return {
    url,
    token,
    loopDelay: async () => {
      const printed = once(lines, 'line');
      child.kill('SIGUSR2');
      const [text] = (await printed) as [string];
      return (JSON.parse(text) as { p99: number }).p99;
    },
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
