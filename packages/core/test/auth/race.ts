/** Many callers in many processes with one sign-in: what they did, and what the authorization server saw of it. */
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
  /** Resolves when its calls begin. */
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
  // All that it printed has come by then.
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

/** Lets them call until so many tokens have come to their end. */
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
  // Short lives begin when all are up: a start takes what it takes.
  stage.authorization.accessTokenSeconds = seconds;
  for (const token of stage.server.wall.admitted)
    await (await stage.authorization.provider.AccessToken.find(token))?.destroy();
  const { tally } = stage.authorization;
  const isOver = (): boolean =>
    tally.granted('refresh_token') >= expiries || tally.refusals('invalid_grant') > 0;
  await waitUntil(isOver, expiries * 20_000);
  const done = await Promise.all(programs.map((program) => program.stop()));
  return {
    calls: done.reduce((sum, { calls }) => sum + calls, 0),
    failures: done.flatMap(({ failures }) => failures),
  };
}

/** What the authorization server saw: each token renewed once, none used again. */
export function renewals({ authorization, server, pages }: Stage) {
  const asked = authorization.tally.requests.filter(({ grantType }) => grantType === 'refresh_token');
  return {
    asked: asked.length,
    granted: authorization.tally.granted('refresh_token'),
    distinct: new Set(asked.map(({ parameters }) => parameters.refresh_token)).size,
    reused: authorization.tally.refusals('invalid_grant'),
    /** The shortest time from one renewal to the next. */
    soonestMs: Math.min(...asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0))),
    tokensUsed: server.wall.admitted.size,
    signIns: pages.length,
  };
}
