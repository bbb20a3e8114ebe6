/**
 * A guard holds at every entry point: a refused request never reaches the server, gets the same error code
 * everywhere, and is in the log with its caller.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStage, type Stage } from './stage.js';
import { openStdioClients } from './stdio-surface.js';
import { createSurfaces, type Library, openLibrary, startTask } from './surfaces.js';
import {
  expectedCode,
  GUARDS,
  type Guard,
  itemOf,
  KINDS,
  type Kind,
  nameOf,
  type Surface,
  whyNotApplicable,
} from './table.js';

const SLOW_MS = 120_000;
const WAIT = { timeout: 10_000, interval: 50 };
let stage: Stage;
const libraries: Record<string, Library> = {};
const libraryOf = (name: string) => (): Library => {
  const found = libraries[name];
  if (found === undefined) throw new Error(`the library "${name}" is not open yet`);
  return found;
};
const tasks = new Map<string, string>();
const stdioClients = {
  daemon: openStdioClients(() => stage, []),
  own: openStdioClients(() => stage, ['--no-daemon']),
};
const SURFACES = createSurfaces({
  stage: () => stage,
  libraries: { asking: libraryOf('asking'), alone: libraryOf('alone') },
  tasks,
  clients: stdioClients,
});

const isMethod = ({ name }: Surface): boolean => name.startsWith('method');
const isTask = ({ name }: Surface): boolean => name.startsWith('task');
const nameIn = (surface: Surface, kind: Kind, guard?: Guard): string =>
  isMethod(surface)
    ? `own/${nameOf(surface.name, kind, guard)}`
    : itemOf(kind, nameOf(surface.name, kind, guard));

const ALL = SURFACES.flatMap((surface) =>
  GUARDS.flatMap((guard) => KINDS.map((kind) => ({ surface, way: surface.name, guard, kind }))),
);
const CELLS = ALL.filter(({ surface, guard, kind }) => whyNotApplicable(surface, guard, kind) === undefined);
const CONTROLS = SURFACES.flatMap((surface) =>
  KINDS.filter((kind) => whyNotApplicable(surface, 'ask', kind) === undefined).map((kind) => ({
    surface,
    way: surface.name,
    kind,
  })),
);

beforeAll(async () => {
  // A server may list 1,000 items.
  const kindsOf = (surface: Surface): Kind[] =>
    KINDS.filter((kind) => GUARDS.some((guard) => whyNotApplicable(surface, guard, kind) === undefined));
  const names = SURFACES.flatMap((surface) =>
    kindsOf(surface).flatMap((kind) =>
      [undefined, ...GUARDS].map((guard) => nameOf(surface.name, kind, guard)),
    ),
  );
  stage = await openStage(names);
  const state = await temporaryDirectory();
  libraries.asking = await openLibrary(stage, {
    stateDir: state.file('asking'),
    approve: async () => 'deny' as const,
  });
  libraries.alone = await openLibrary(stage, { stateDir: state.file('alone') });
  const startTasks = async (guards: ReadonlyArray<Guard | undefined>): Promise<void> => {
    for (const surface of SURFACES.filter(isTask))
      for (const guard of guards) {
        const item = nameIn(surface, 'tool', guard);
        tasks.set(item, await startTask(stage, surface.name, { guard, kind: 'tool', item }));
      }
  };
  // Tasks and sessions that a token started before it was revoked.
  await startTasks(['token revoked']);
  for (const path of ['/mcp', '/mcp/one', '/mcp/strict'])
    for (const who of ['agent', 'host'] as const)
      await stage.session(path, stage.token(who, 'token revoked'));
  await stage.revoke();
  await startTasks([undefined, ...GUARDS.filter((guard) => guard !== 'token revoked')]);
  await stage.raiseGuards();
  for (const { runtime } of Object.values(libraries)) await runtime.refresh('up');
}, SLOW_MS);

afterAll(async () => {
  await Promise.all([stdioClients.daemon.close(), stdioClients.own.close()]);
  await Promise.all(Object.values(libraries).map(({ runtime }) => runtime.close()));
  await stage.close();
}, SLOW_MS);

describe.concurrent('an allowed request', () => {
  it.each(CONTROLS)('reaches the server: $way, $kind', { timeout: SLOW_MS }, async ({ surface, kind }) => {
    const item = nameIn(surface, kind);
    expect(await surface.attempt({ kind, item })).toBe('OK');
    expect(stage.arrived(item)).toHaveLength(1);
  });
});

describe.concurrent('a refused request', () => {
  it.each(CELLS)('$way, $guard, $kind', { timeout: SLOW_MS }, async ({ surface, guard, kind }) => {
    const item = nameIn(surface, kind, guard);
    const code = expectedCode(guard, kind, surface);
    const attempt = (): Promise<string> => surface.attempt({ guard, kind, item });
    let received = await attempt();
    // On a machine with only one address, wrong tokens soon exceed the rate limit.
    for (; guard === 'token revoked' && received === 'RATE_LIMITED'; received = await attempt())
      await delay(1_000);
    expect(received).toBe(code);
    expect(stage.arrived(item)).toEqual([]);
    const rows = async () => surface.rows?.(item) ?? (await stage.rows(item)).filter(isRefusal);
    if (guard === 'token revoked') return expect(await rows()).toEqual([]);
    const [row] = await vi.waitFor(async () => {
      const found = await rows();
      expect(found).toHaveLength(1);
      return found;
    }, WAIT);
    expect(row).toMatchObject({ kind, outcome: 'failed', code });
    expect(row?.caller).toBe(surface.caller(guard));
  });
});

/** Excludes the allowed calls that started the tasks. */
const isRefusal = ({ outcome }: { readonly outcome: string }): boolean => outcome === 'failed';

it('has every cell, and a reason for each that cannot be', () => {
  expect(ALL).toHaveLength(SURFACES.length * GUARDS.length * KINDS.length);
  expect({ ways: SURFACES.length, cells: CELLS.length, none: ALL.length - CELLS.length }).toEqual({
    ways: 58,
    cells: 527,
    none: 517,
  });
});

it('no refused request has reached the server by the end', () => {
  for (const { surface, guard, kind } of CELLS)
    expect(stage.arrived(nameIn(surface, kind, guard))).toEqual([]);
});
