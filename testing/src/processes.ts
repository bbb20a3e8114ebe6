import { readdirSync, readFileSync } from 'node:fs';

/** True while the process runs; false for a zombie, which only waits for its parent. Linux only. */
export function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X';
}

/** All living descendants of this process, nearest first. Re-parented processes are not found. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const candidate of listPids()) {
    const stat = readStat(candidate);
    if (stat === undefined || stat.state === 'Z') continue;
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), candidate]);
  }
  const found = [...(children.get(pid) ?? [])];
  for (const next of found) found.push(...(children.get(next) ?? []));
  return found;
}

/** All living processes that were started with this environment variable; finds detached ones too. */
export function processesWithEnvironment(key: string, value: string): number[] {
  const entry = `${key}=${value}`;
  return listPids().filter((pid) => isAlive(pid) && readProc(pid, 'environ')?.split('\0').includes(entry));
}

function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function readStat(pid: number): { state: string; parent: number } | undefined {
  const text = readProc(pid, 'stat');
  // The command name is in parentheses and may itself contain spaces and parentheses.
  const [state, parent] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  return state === undefined ? undefined : { state, parent: Number(parent) };
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined; // ended, or not readable
  }
}
