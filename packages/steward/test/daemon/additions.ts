/** Additions of servers that are interrupted, and what has to be true afterwards. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'vitest';
import { openQueue } from '../queue/open-queue.js';
import { scriptedPackage, scriptedRecord } from './hostile-servers.js';
import { type Json, openStewardStage, type StewardStage, type StewardStageOptions } from './stage.js';

/** A daemon that can add these servers, each with a tool of its own: one with the name of another's fails its test. */
export const openLane = (names: readonly string[], more: StewardStageOptions = {}): Promise<StewardStage> =>
  openStewardStage({
    packages: names.map((name) =>
      scriptedPackage(name, { tools: [{ name: `count_${name}`, text: 'Count.' }] }),
    ),
    records: names.map((name) => scriptedRecord(name)),
    ...more,
  });

export const requestAddition = (stage: StewardStage, name: string): Promise<string> =>
  stage.request('add_server', { registryName: `io.github.acme/${name}` });

/** The servers whose tools are pinned as they were tested. */
function testedServers(stage: StewardStage): string[] {
  const file = stage.home.file('state/pins.json');
  if (!existsSync(file)) return [];
  const { tested = [], pins } = JSON.parse(readFileSync(file, 'utf8')) as {
    tested?: string[];
    pins: { server: string }[];
  };
  expect([...new Set(pins.map(({ server }) => server))].sort()).toEqual([...tested].sort());
  return [...tested].sort();
}

/** The packages and pins that are there are those of the configured servers. */
export function expectWhole(stage: StewardStage): void {
  const present = existsSync(stage.packageRoot) ? readdirSync(stage.packageRoot) : [];
  const servers = Object.values((stage.config().servers ?? {}) as Record<string, { args: string[] }>);
  const used = servers.map(({ args }) =>
    basename(String(args[0]).slice(0, String(args[0]).indexOf('/node_modules/'))),
  );
  // A lock beside a directory is a file of the installer.
  expect(present.filter((name) => !name.endsWith('.lock')).sort()).toEqual(used.sort());
  expect(testedServers(stage)).toEqual(Object.keys(stage.config().servers ?? {}).sort());
}

/** What is counted is what the request consumed: each run of a step once, and the base once. */
export async function readEnergy(stage: StewardStage, id: string, status: Json): Promise<string[]> {
  const { database } = await openQueue(stage.home.file('state/work.db'));
  const rows = database.prepare("SELECT ref, amount FROM energy_spent WHERE ref LIKE ? || ':%'").all(id);
  const total = rows.reduce((sum, { amount }) => sum + Number(amount), 0);
  expect(status.energyConsumed).toBeCloseTo(total / 1_000, 6);
  const refs = rows.map(({ ref }) => String(ref));
  expect(new Set(refs).size).toBe(refs.length);
  return refs.map((ref) => ref.split(':')[1] ?? '');
}
