/** Rounds of calls in many processes with one sign-in. Each round starts with a token that has just become invalid. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Stage } from './stage.js';

const PROGRAM = fileURLToPath(new URL('calling-in-rounds.mjs', import.meta.url));
const HOUR_MS = 3_600_000;

/** How the token becomes invalid: it expires by the callers' clock, or the authorization server revokes it. */
export type Ending = 'expires' | 'is taken back';

export interface RoundsOptions {
  readonly processes: number;
  readonly callers: number;
  readonly rounds: number;
  readonly ending: Ending;
  /** How many processes only compute, to keep the machine busy. */
  readonly busy: number;
}

interface Answer {
  readonly failures: readonly string[];
  readonly slowestMs: number;
}

interface Round {
  /** Renewal requests that the authorization server received. */
  readonly renewals: number;
  readonly failures: readonly string[];
  readonly slowestMs: number;
}

export async function runRounds(stage: Stage, options: RoundsOptions): Promise<Round[]> {
  const { processes, callers, rounds, ending, busy } = options;
  const { authorization, server } = stage;
  const runtime = await stage.open();
  await runtime.signIn('web', { prompts: stage.prompts });
  await runtime.close();
  const programs = Array.from({ length: processes }, (_, index) =>
    startProgram(stage, Math.floor(callers / processes) + (index < callers % processes ? 1 : 0)),
  );
  for (const program of programs) await program.next();
  for (let one = 0; one < busy; one += 1) keepBusy();
  const done: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const before = authorization.requestLog.count('token', 'refresh_token');
    if (ending === 'is taken back')
      for (const token of server.guard.admitted)
        await (await authorization.provider.AccessToken.find(token))?.destroy();
    const aheadMs = ending === 'expires' ? round * (HOUR_MS + 1_000) : 0;
    const answers = await Promise.all(programs.map((program) => program.round({ aheadMs })));
    done.push({
      renewals: authorization.requestLog.count('token', 'refresh_token') - before,
      failures: answers.flatMap(({ failures }) => failures),
      slowestMs: Math.max(...answers.map(({ slowestMs }) => slowestMs)),
    });
  }
  return done;
}

function startProgram({ stateDir, server }: Stage, callers: number) {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify({ stateDir, url: server.url, callers })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => {});
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Answer> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`The program ended (${child.exitCode ?? child.signalCode}).`);
    return JSON.parse(value) as Answer;
  };
  const round = (order: { readonly aheadMs: number }): Promise<Answer> => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
    return next();
  };
  return { next, round };
}

function keepBusy(): void {
  const child = spawn(process.execPath, ['-e', 'for (;;) Math.sqrt(Math.random())'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
}
