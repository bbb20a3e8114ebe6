/** Many callers in many processes with one sign-in: their calls, and the requests that the authorization server received. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@turnbuckle/testing';
import type { Stage } from './stage.js';

const PROGRAM = fileURLToPath(new URL('calling.mjs', import.meta.url));

export interface Done {
  readonly calls: number;
  readonly failures: readonly string[];
}

export interface CallingProgram {
  readonly process: ChildProcess;
  /** Resolves when it starts calling. */
  readonly ready: Promise<void>;
  stop(): Promise<Done>;
}

/** Starts calling.mjs with plain Node on the built library. */
export function startCalling(
  { stateDir, server }: Stage,
  { callers, pauseMs }: { callers: number; pauseMs: number },
): CallingProgram {
  const options = { stateDir, url: server.url, callers, pauseMs };
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {});
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  // By then all its output has arrived.
  const closed = once(child, 'close');
  const stop = async (): Promise<Done> => {
    child.stdin.end('stop');
    await closed;
    return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Done;
  };
  const isReady = (): boolean =>
    printed.startsWith('ready') || child.exitCode !== null || child.signalCode !== null;
  return { process: child, ready: waitUntil(isReady, 60_000), stop };
}

export interface RaceOptions {
  readonly processes: number;
  readonly callers: number;
  readonly pauseMs: number;
  readonly expiries: number;
  readonly seconds: number;
}

/** Lets the processes call until `expiries` tokens have expired. */
export async function race(stage: Stage, options: RaceOptions): Promise<Done> {
  const { processes, callers, pauseMs, expiries, seconds } = options;
  const runtime = await stage.open();
  await runtime.signIn('web', { prompts: stage.prompts });
  await runtime.close();
  const programs = Array.from({ length: processes }, (_, index) => {
    const share = Math.floor(callers / processes) + (index < callers % processes ? 1 : 0);
    return startCalling(stage, { callers: share, pauseMs });
  });
  await Promise.all(programs.map(({ ready }) => ready));
  // Tokens become short-lived only when all processes are up, however long the start takes.
  stage.authorization.accessTokenSeconds = seconds;
  for (const token of stage.server.guard.admitted)
    await (await stage.authorization.provider.AccessToken.find(token))?.destroy();
  const { requestLog } = stage.authorization;
  const isOver = (): boolean =>
    requestLog.granted('refresh_token') >= expiries || requestLog.refusals('invalid_grant') > 0;
  await waitUntil(isOver, expiries * 20_000);
  const done = await Promise.all(programs.map((program) => program.stop()));
  return {
    calls: done.reduce((sum, { calls }) => sum + calls, 0),
    failures: done.flatMap(({ failures }) => failures),
  };
}

/** The renewals that the authorization server received. */
export function renewals({ authorization, server, pages }: Stage) {
  const asked = authorization.requestLog.requests.filter(({ grantType }) => grantType === 'refresh_token');
  return {
    asked: asked.length,
    granted: authorization.requestLog.granted('refresh_token'),
    distinct: new Set(asked.map(({ parameters }) => parameters.refresh_token)).size,
    reused: authorization.requestLog.refusals('invalid_grant'),
    /** The shortest time from one renewal to the next. */
    soonestMs: Math.min(...asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0))),
    tokensUsed: server.guard.admitted.size,
    signIns: pages.length,
  };
}
