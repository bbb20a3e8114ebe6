/** A home with secrets, a project and a place outside, and a server in a sandbox that tries things in them. */
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

/** A test with a real sandbox; where there is none, its name says why it was not run. */
export const confined =
  impossible === undefined
    ? it
    : Object.assign((name: string) => it.skip(`${name} [${impossible}]`), {
        // Taken out of `it.skip`, `each` has lost what it belongs to.
        each: it.skip.each.bind(it.skip),
      });

type Sandbox = Extract<ServerInput, { command: string }>['sandbox'];

export interface StageOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly stateDir?: string;
}

export interface Attempt {
  readonly done?: unknown;
  /** The code or the message of what went wrong. */
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
  /** Starts it; what did not come up is in its status. */
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

/** What became of something that the server tried. */
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
