/** The processes of a server with all their descendants, from /proc: what they use, and that they end. */
import { readdir, readFile } from 'node:fs/promises';
import { isSameProcess, readProcessStat } from 'turnbuckle/host';

export interface TreeProcess {
  readonly pid: number;
  /** With the pid, this identifies a process: pids are reused. */
  readonly start: string;
  readonly memoryKb: number;
}

const MAX_PROCESSES = 512;

/** Undefined where the platform does not tell. */
export async function readProcessTree(root: number | undefined): Promise<readonly TreeProcess[] | undefined> {
  if (root === undefined || process.platform !== 'linux') return undefined;
  const found: TreeProcess[] = [];
  const pids = [root];
  for (let index = 0; index < pids.length && index < MAX_PROCESSES; index += 1) {
    const pid: number = pids[index] ?? root;
    const children = await childrenOf(pid);
    // A kernel without this list: a sum over some of the processes would be misleading.
    if (children === undefined && pid === root) return undefined;
    pids.push(...(children ?? []));
    const facts = readProcessStat(pid);
    if (facts !== undefined) found.push({ pid, start: facts.start, memoryKb: await memoryOf(pid) });
  }
  return found;
}

/** Kills those that still run, which only a process without sandbox can manage: it left its group and its name. */
export function endSurvivors(processes: Iterable<TreeProcess>): void {
  for (const { pid, start } of processes) {
    if (start === '' || !isSameProcess({ pid, start })) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // gone meanwhile
    }
  }
}

/** Each thread has its own list of the processes that it started. */
async function childrenOf(pid: number): Promise<number[] | undefined> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) =>
      readFile(`/proc/${pid}/task/${thread}/children`, 'latin1').catch(() => undefined),
    ),
  );
  const known = lists.filter((list) => list !== undefined);
  if (known.length === 0) return undefined;
  return known.flatMap((list) => (list.match(/\d+/g) ?? []).map(Number));
}

async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
