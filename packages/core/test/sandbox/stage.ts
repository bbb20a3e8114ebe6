/** A home directory with secrets, a project and a directory outside, and a sandboxed server that tries to access them. */
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type ServerInput } from 'turnbuckle';
import { it, onTestFinished } from 'vitest';
import { ONCE, textOf } from '../lifecycle/open-runtime.js';

export const BUBBLEWRAP = 'bwrap';
const tried =
  process.platform === 'linux' && spawnSync(BUBBLEWRAP, ['--unshare-user', '--ro-bind', '/', '/', 'true']);

/** Why tests with a real sandbox cannot run here; undefined where they can. */
export const impossible =
  tried === false
    ? 'there are sandboxes on Linux only'
    : tried.status === 0
      ? undefined
      : 'bubblewrap (bwrap) is not installed, or may not be used';

/** A test with a real sandbox; if there is none, its title says why it is skipped. */
export const confined =
  impossible === undefined
    ? it
    : Object.assign((name: string) => it.skip(`${name} [${impossible}]`), {
        // `each` needs its `this`, so it is bound to `it.skip`.
        each: it.skip.each.bind(it.skip),
      });

export type Sandbox = Extract<ServerInput, { command: string }>['sandbox'];

export interface StageOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly stateDir?: string;
}

export interface Attempt {
  readonly done?: unknown;
  /** The code or the message of the error. */
  readonly failed?: string;
}

export interface Stage {
  readonly home: string;
  readonly project: string;
  readonly outside: string;
  readonly stateDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Configuration of the server, whose program is in the project. */
  server(sandbox: Sandbox, options?: StageOptions): ServerInput;
  /** Starts it; an error is in its status. */
  open(sandbox: Sandbox, options?: StageOptions): Promise<Runtime>;
}

const PROGRAM = fileURLToPath(new URL('probing-server.mjs', import.meta.url));

/** Puts the server's program into a directory, as `server.mjs`. */
export const stageProgram = (directory: string): Promise<void> =>
  copyFile(PROGRAM, join(directory, 'server.mjs'));

export async function createStage(): Promise<Stage> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const [home, project, outside, stateDir] = ['home', 'home/project', 'outside', 'state'].map((name) =>
    directory.file(name),
  ) as [string, string, string, string];
  for (const path of [join(home, '.ssh'), project, outside]) await mkdir(path, { recursive: true });
  await writeFile(join(home, '.ssh', 'id'), 'a secret of the home');
  await writeFile(join(outside, 'file'), 'outside');
  await writeFile(join(project, 'file'), 'in the project');
  await stageProgram(project);
  const environment = { HOME: home, PATH: process.env.PATH };
  const server: Stage['server'] = (sandbox, { env = {} } = {}) => ({
    command: process.execPath,
    args: ['server.mjs'],
    cwd: project,
    env: { ...env },
    reconnect: ONCE,
    ...(sandbox !== undefined && { sandbox }),
  });
  return {
    home,
    project,
    outside,
    stateDir,
    environment,
    server,
    open: async (sandbox, options) => {
      const runtime = await createRuntime({
        stateDir: options?.stateDir ?? stateDir,
        environment: { ...environment, ...options?.environment },
        servers: { probe: server(sandbox, options) },
      });
      onTestFinished(() => runtime.close());
      await runtime.connectAll();
      return runtime;
    },
  };
}

/** The outcome of an attempt of the server. */
export async function attempt(
  runtime: Runtime,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<Attempt> {
  return JSON.parse(textOf(await runtime.callTool('probe', name, args)));
}

export interface Facts {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly status: string;
  readonly descriptors: Readonly<Record<string, string | undefined>>;
  readonly processes: ReadonlyArray<readonly string[] | null>;
}

export async function factsOf(runtime: Runtime): Promise<Facts> {
  return (await attempt(runtime, 'facts')).done as Facts;
}
