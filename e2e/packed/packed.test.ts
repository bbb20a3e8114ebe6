/** Packs the packages as npm publishes them, and installs them into an empty project outside the workspace. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const fixture = join(root, 'testing/dist/servers/echo.js');
const PACKAGES = ['core', 'store', 'gateway', 'cli'] as const;
const MAX_PACKAGES_OF_CLI = 10;

let scratch: string;
let environment: NodeJS.ProcessEnv;
const tarballs = {} as Record<(typeof PACKAGES)[number], string>;

/** Installs the tarballs into a new project; returns the paths of all packages that npm installed. */
async function install(
  name: string,
  packages: readonly (keyof typeof tarballs)[],
  others: readonly string[] = [],
): Promise<string[]> {
  const directory = join(scratch, name);
  await mkdir(directory);
  await writeFile(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n');
  const files = packages.map((one) => tarballs[one]);
  await run('npm', ['install', '--no-audit', '--no-fund', ...files, ...others], {
    cwd: directory,
    env: environment,
  });
  const lock: unknown = JSON.parse(await readFile(join(directory, 'package-lock.json'), 'utf8'));
  const { packages: all } = lock as { packages: Record<string, unknown> };
  const listed = Object.keys(all).filter((path) => path.startsWith('node_modules/'));
  const there = await Promise.all(
    listed.map((path) =>
      readdir(join(directory, path)).then(
        () => path,
        () => undefined,
      ),
    ),
  );
  // Packages for other platforms are only in the lock file.
  return there.filter((path) => path !== undefined);
}

/** The version of this workspace; every TypeScript project for Node has these types. */
async function typesOfNode(): Promise<string> {
  const text = await readFile(join(root, 'node_modules/@types/node/package.json'), 'utf8');
  return `@types/node@${(JSON.parse(text) as { version: string }).version}`;
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'turnbuckle-packed-'));
  environment = { ...process.env, HOME: scratch, TURNBUCKLE_STATE_DIR: join(scratch, 'state') };
  for (const name of PACKAGES) {
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', scratch], {
      cwd: join(root, 'packages', name),
    });
    const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
    expect(packed?.files.filter(({ path }) => /^(src|test)\//.test(path))).toEqual([]);
    tarballs[name] = join(scratch, packed?.filename ?? '');
  }
});

afterAll(() => rm(scratch, { recursive: true, force: true }));

describe('the library', () => {
  it('is imported under tsc --strict, and makes a call', async () => {
    await install('library', ['core'], [await typesOfNode()]);
    const directory = join(scratch, 'library');
    await writeFile(
      join(directory, 'agent.ts'),
      `import { type CatalogTool, createRuntime, type Runtime, TurnbuckleError, toOpenAiTools } from 'turnbuckle';
       import { createVault } from 'turnbuckle/host';
       const runtime: Runtime = await createRuntime({
         servers: { echo: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(fixture)}] } },
       });
       await runtime.connect('echo');
       const tools: readonly CatalogTool[] = runtime.tools();
       const result = await runtime.callTool('echo', 'echo', { text: 'packed' });
       const unknown = await runtime.callTool('none', 'echo').catch((error: unknown) => error);
       if (!(unknown instanceof TurnbuckleError)) throw new Error('not one of ours');
       console.log(JSON.stringify([toOpenAiTools(tools).length > 0, result.content, unknown.code, typeof createVault]));
       await runtime.close();`,
    );
    const options = ['--strict', '--target', 'ES2023', '--module', 'NodeNext', '--types', 'node'];
    const checked = await run(process.execPath, [tsc, ...options, 'agent.ts'], { cwd: directory }).catch(
      (failed: { stdout: string }) => failed,
    );
    expect(checked.stdout).toBe('');
    const { stdout } = await run(process.execPath, ['agent.js'], { cwd: directory, env: environment });
    expect(JSON.parse(stdout)).toEqual([
      true,
      [expect.objectContaining({ text: 'packed' })],
      'SERVER_UNKNOWN',
      'function',
    ]);
  });
});

describe('the command', () => {
  it('installs few packages, and runs', async () => {
    const packages = await install('command', ['cli']);
    expect(packages).toContain('node_modules/@turnbuckle/cli');
    expect(packages.length).toBeLessThanOrEqual(MAX_PACKAGES_OF_CLI);
    const turnbuckle = join(scratch, 'command/node_modules/.bin/turnbuckle');
    const { stdout: version } = await run(turnbuckle, ['--version'], { env: environment });
    expect(version).toMatch(/\d+\.\d+\.\d+/);
    await run(turnbuckle, ['add', 'echo', '--', process.execPath, fixture], { env: environment });
    const { stdout } = await run(turnbuckle, ['call', 'echo', 'echo', 'text=packed'], { env: environment });
    expect(stdout).toContain('packed');
  });

  it('runs the daemon with its log', async () => {
    const turnbuckle = join(scratch, 'command/node_modules/.bin/turnbuckle');
    await run(turnbuckle, ['serve', 'start', '--port', '0'], { env: environment });
    try {
      const { stdout } = await run(turnbuckle, ['call', 'echo', 'echo', 'text=logged'], { env: environment });
      expect(stdout).toContain('logged');
    } finally {
      await run(turnbuckle, ['serve', 'stop'], { env: environment });
    }
    const { stdout } = await run(turnbuckle, ['calls', '--json'], { env: environment });
    expect(stdout).toContain('logged');
  });
});

describe('the daemon as a package', () => {
  it('starts from code', async () => {
    await install('gateway', ['core', 'store', 'gateway']);
    const code = `
      import { startDaemon } from '@turnbuckle/gateway';
      process.stdout.write(typeof startDaemon);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], {
      cwd: join(scratch, 'gateway'),
      env: environment,
    });
    expect(stdout).toBe('function');
  });
});
