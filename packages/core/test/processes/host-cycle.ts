/**
 * Runs a host with servers that resist termination, ends it, and checks what is left: the check behind
 * "nothing we started survives us". Used ten times by the tests and two hundred times by the soak run.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fixture, processesWithEnvironment, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect } from 'vitest';
import { startHost } from './host.js';

export const ENDINGS = ['close', 'SIGTERM', 'SIGINT', 'throw', 'exit', 'SIGKILL'] as const;
export type Ending = (typeof ENDINGS)[number];

/** Exit code or signal by which the host ends. */
const EXPECTED: Readonly<Record<Ending, number | string>> = {
  close: 0,
  SIGTERM: 'SIGTERM',
  SIGINT: 'SIGINT',
  throw: 1,
  exit: 3,
  SIGKILL: 'SIGKILL',
};

/** A server and four descendants, twice: once started directly and once behind `sh -c`. */
const PROCESSES = 2 * 5 + 1;
const ROLES = 5;

export interface CycleOptions {
  readonly ending: Ending;
  readonly runtimes?: number;
  /** True if no other runtime sweeps: the processes of a killed host must still exist before the restart. */
  readonly alone?: boolean;
}

export async function runCycle({ ending, runtimes = 1, alone = false }: CycleOptions): Promise<void> {
  const directory = await temporaryDirectory();
  const mark = randomUUID();
  const marked = (): number[] => processesWithEnvironment('CYCLE', mark);
  const pidFile = directory.file('pids');
  const host = startHost({
    servers: stubbornServers(pidFile, mark),
    stateDir: directory.path,
    runtimes,
    ending,
    mark,
  });
  try {
    const { status } = await host.said('READY');
    expect(status).toEqual(Array.from({ length: 2 * runtimes }, () => 'connected'));
    await waitUntil(() => linesOf(pidFile) === 2 * ROLES * runtimes, 10_000);
    expect(marked().length).toBe(PROCESSES * runtimes);

    if (ending.startsWith('SIG')) host.process.kill(ending as NodeJS.Signals);
    else host.go();
    if (ending === 'close') {
      // Counted inside the host at the moment when close() resolved.
      expect(await host.said('CLOSED')).toMatchObject({ left: 0 });
      host.process.stdin?.end();
    }
    expect(await host.ended).toBe(EXPECTED[ending]);
    if (ending === 'SIGKILL') {
      if (alone) expect(marked().length).toBe(PROCESSES * runtimes);
      await restartHost(directory.path);
    }
    // A killed process ends shortly after the signal was sent.
    await waitUntil(() => marked().length === 0, 2_000);
  } finally {
    host.process.kill('SIGKILL');
    for (const pid of marked()) process.kill(pid, 'SIGKILL');
    await directory.remove();
  }
}

async function restartHost(stateDir: string): Promise<void> {
  const next = startHost({ servers: {}, stateDir, ending: 'exit', mark: '' });
  await next.said('READY');
  next.go();
  await next.ended;
}

function stubbornServers(pidFile: string, mark: string): Record<string, unknown> {
  const { command, args } = fixture('stubborn', '--pid-file', pidFile, '--life-ms', '60000');
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  const env = { CYCLE: mark };
  return {
    direct: { command, args, env },
    // The `true` keeps the shell from replacing itself with the server.
    wrapped: { command: 'sh', args: ['-c', `${line}; true`], env },
  };
}

const linesOf = (file: string): number =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
