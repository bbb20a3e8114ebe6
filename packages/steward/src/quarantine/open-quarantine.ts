/**
 * A runtime of its own for one server: its own state directory, no vault of the user, no approvals, no requests of
 * the server to the host, and a minimal environment. Nothing in it is offered to anybody.
 */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createRuntime, type Runtime, TurnbuckleError } from 'turnbuckle';
import { checkSandbox } from 'turnbuckle/host';
import { endSurvivors, readProcessTree, type TreeProcess } from './process-tree.js';
import { type ConfigEntry, type EntryLimits, isLocal, quarantineEntry } from './quarantine-entry.js';

export interface QuarantineOptions {
  readonly name: string;
  readonly entry: ConfigEntry;
  readonly environment: Readonly<Record<string, string>>;
  readonly stateDir: string;
  readonly sandbox: 'required' | 'where-available';
  readonly allowNetwork: boolean;
  readonly directory?: string | undefined;
  /** The PATH in which programs are found. */
  readonly path: string | undefined;
  readonly limits: EntryLimits;
}

export interface Quarantine {
  readonly name: string;
  readonly runtime: Runtime;
  /** Whether a process of the server runs in a sandbox. */
  readonly sandboxed: boolean;
  /** Nothing of the server runs on this machine. */
  readonly isRemote: boolean;
  /** Why there is no sandbox, if there is none. */
  readonly note: string | undefined;
  /** Its processes now; undefined where the platform does not tell. */
  readProcesses(): Promise<readonly TreeProcess[] | undefined>;
  /** All processes of the server have ended, and its files are gone, when it resolves. */
  close(): Promise<void>;
}

const PREFIX = 'quarantine-';

/** Removes what killed tests left behind; call it when no test runs. */
export async function removeQuarantines(stateDir: string): Promise<void> {
  const names = await readdir(stateDir).catch(() => []);
  for (const name of names)
    if (name.startsWith(PREFIX) && /^[A-Za-z0-9]{6}$/.test(name.slice(PREFIX.length)))
      await rm(join(stateDir, name), { recursive: true, force: true }).catch(() => {});
}

/** Together well below a second: an untested server has nothing to save. */
const PROCESS_STOP = { exitGraceMs: 100, termMs: 150 };
const LIMITS = { maxServers: 1, maxFloodMs: 2_000, maxToolsPerServer: 1_000, maxPages: 32 };

/** Starts nothing yet. Rejects with SANDBOX_UNAVAILABLE, VARIABLE_MISSING or CONFIG_INVALID. */
export async function openQuarantine(options: QuarantineOptions): Promise<Quarantine> {
  const { name, entry, environment, path } = options;
  const fault = isLocal(entry) ? await sandboxFault(options) : undefined;
  const sandboxed = isLocal(entry) && fault === undefined;
  await mkdir(options.stateDir, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(join(options.stateDir, PREFIX));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true }).catch(() => {});
  try {
    const [state, home, work] = await makeDirectories(directory, ['state', 'home', 'work']);
    const config = await quarantineEntry(entry, {
      ...options,
      isSandboxed: sandboxed,
      workDirectory: work,
    });
    const runtime = await createRuntime({
      servers: { [name]: config },
      stateDir: state,
      environment: {
        ...inherited(entry, environment),
        HOME: home,
        ...(path !== undefined && { PATH: path }),
      },
      telemetry: false,
      limits: LIMITS,
      processStop: PROCESS_STOP,
    });
    const isRemote = !isLocal(entry);
    return {
      ...guard(runtime, name, remove),
      name,
      runtime,
      sandboxed,
      isRemote,
      note: noteOf(entry, fault),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Why there is no sandbox. Throws if there has to be one. */
async function sandboxFault({ name, sandbox, path }: QuarantineOptions): Promise<string | undefined> {
  const support = await checkSandbox({ PATH: path });
  if (support.available) return undefined;
  if (sandbox === 'where-available') return support.reason;
  throw new TurnbuckleError(
    'SANDBOX_UNAVAILABLE',
    `Server "${name}" was not tested, because ${support.reason} and a sandbox is required.`,
    { server: name, hint: `${support.hint}.` },
  );
}

function noteOf(entry: ConfigEntry, fault: string | undefined): string | undefined {
  if (!isLocal(entry)) return 'The server is remote: none of it ran on this machine.';
  return fault === undefined ? undefined : `The server ran without a sandbox, because ${fault}.`;
}

/** Only what the entry names. */
function inherited(
  { inheritEnv }: ConfigEntry,
  environment: QuarantineOptions['environment'],
): Record<string, string> {
  const names: readonly unknown[] = Array.isArray(inheritEnv) ? inheritEnv : [];
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => names.includes(variable)));
}

async function makeDirectories<const Names extends readonly string[]>(
  parent: string,
  names: Names,
): Promise<{ [Index in keyof Names]: string }> {
  const paths = names.map((name) => join(parent, name));
  await Promise.all(paths.map((path) => mkdir(path, { mode: 0o700 })));
  // One for each name.
  return paths as unknown as { [Index in keyof Names]: string };
}

function guard(
  runtime: Runtime,
  name: string,
  remove: () => Promise<void>,
): Pick<Quarantine, 'readProcesses' | 'close'> {
  const seen = new Map<string, TreeProcess>();
  const readProcesses = async (): Promise<readonly TreeProcess[] | undefined> => {
    const found = await readProcessTree(runtime.serverStatus(name).pid);
    for (const one of found ?? []) seen.set(`${one.pid} ${one.start}`, one);
    return found;
  };
  return {
    readProcesses,
    close: async () => {
      // What it started since then.
      await readProcesses().catch(() => undefined);
      await runtime.close();
      endSurvivors(seen.values());
      await remove();
    },
  };
}
