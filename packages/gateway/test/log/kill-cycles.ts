/** Processes that make calls and are killed with -9 in the middle, and what is in the log afterwards. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CallLog } from '@turnbuckle/store';
import { temporaryDirectory } from '@turnbuckle/testing';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../../store/src/database.js';

export interface KillReport {
  readonly acknowledged: number;
  /** Answered calls that the log does not have. */
  readonly lost: readonly string[];
  /** Calls that the log has more than once. */
  readonly doubled: readonly string[];
  /** What SQLite says about the file: `ok`. */
  readonly integrity: string;
  readonly unusable: number;
}

const SCRIPT = fileURLToPath(new URL('call-until-killed.mjs', import.meta.url));

/** `atOnce` processes write to one log at the same time, `kills` times over; each is killed after a while. */
export async function runKillCycles({
  kills,
  atOnce,
  linesFor,
}: {
  readonly kills: number;
  readonly atOnce: number;
  /** How many calls the process of a round may answer before it is killed. */
  readonly linesFor: (round: number) => number;
}): Promise<KillReport> {
  const home = await temporaryDirectory();
  const directory = home.file('log');
  const said: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    const processes = Array.from({ length: atOnce }, (_, number) =>
      killAfter(linesFor(round), [directory, home.file(`state-${number}`), `${round}-${number}`]),
    );
    said.push(...(await Promise.all(processes)).flat());
  }
  const unusable = await importJournal(directory);
  const report = { ...(await compare(`${directory}/log.db`, said)), unusable, acknowledged: said.length };
  await home.remove();
  return report;
}

function killAfter(lines: number, args: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  let count = 0;
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    count += part.split('\n').length - 1;
    if (count >= lines) child.kill('SIGKILL');
  });
  return new Promise((resolve) =>
    child.once('close', () => resolve(text.slice(0, text.lastIndexOf('\n')).split('\n'))),
  );
}

async function importJournal(directory: string): Promise<number> {
  const log = new CallLog({ directory });
  const unusable = await log.flush();
  await log.close();
  return unusable;
}

async function compare(
  file: string,
  said: readonly string[],
): Promise<Pick<KillReport, 'lost' | 'doubled' | 'integrity'>> {
  const database = await openDatabase(file, { readOnly: true });
  const counts = new Map<string, number>();
  for (const { id } of database.prepare('SELECT id FROM invocations').all())
    counts.set(String(id), (counts.get(String(id)) ?? 0) + 1);
  const [integrity] = database.prepare('PRAGMA integrity_check').all();
  database.close();
  return {
    lost: said.filter((id) => !counts.has(id)),
    doubled: [...counts].flatMap(([id, count]) => (count > 1 ? [id] : [])),
    integrity: String(integrity?.integrity_check),
  };
}
