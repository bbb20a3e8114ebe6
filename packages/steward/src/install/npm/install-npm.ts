/**
 * Installs one approved version of an npm package with npm, in two steps: npm chooses the versions of the
 * dependencies, its choice is checked, then exactly that is unpacked. No script of any package runs, no link to a
 * program is made, and npm sees neither the user's settings nor any other address than the gateway.
 */
import { lstat, mkdir, open, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { confineProgram, type GuardedFetch, isRecord, readFileText } from 'turnbuckle/host';
import type { Advisory } from '../advisories.js';
import { createPackageDirectory } from '../install-directory.js';
import type { InstallPlan } from '../install-plan.js';
import { installError, packageRefused } from '../refusal.js';
import { type ProgramResult, tryProgram } from '../run-program.js';
import { checkLock } from './check-lock.js';
import type { NpmConfig } from './npm-config.js';
import { type NpmGateway, startNpmGateway } from './npm-gateway.js';

export interface InstallNpmOptions {
  readonly fetch: GuardedFetch;
  readonly signal: AbortSignal;
  readonly npm: NpmConfig;
  /** npm's own JavaScript file. */
  readonly npmFile: string;
  readonly advisories: readonly Advisory[];
  /** Later versions of dependencies are not installed. */
  readonly publishedBefore?: number | undefined;
  /** The environment of the host. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const STEP_MS = 5 * 60_000;
const MAX_JSON_BYTES = 32 * 1_024 * 1_024;

/** The flags of both steps. */
const FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--save-exact',
  '--omit=dev',
  '--no-bin-links',
  '--json',
];

/** The words after npm's file. What is installed is behind `--`, so that it is never an option. */
export const npmArguments = (
  step: 'choose' | 'unpack',
  { identifier, version }: Pick<InstallPlan, 'identifier' | 'version'>,
): string[] =>
  step === 'choose'
    ? ['install', '--package-lock-only', ...FLAGS, '--', `${identifier}@${version}`]
    : ['ci', ...FLAGS];

/** The hash over the installed files. */
export function installNpm(plan: InstallPlan, options: InstallNpmOptions): Promise<string> {
  const { identifier, version, integrity, directory, file } = plan;
  if (integrity === undefined || directory === undefined || file === undefined)
    throw packageRefused(`The plan for ${identifier} is not complete.`);
  const facts = { kind: 'npm', identifier, version, integrity } as const;
  return createPackageDirectory(directory, facts, async (partial) => {
    const gateway = await startNpmGateway(options);
    try {
      const content = await fill(partial, { plan: { ...plan, integrity, file }, options, gateway });
      await checkProgram(content, { identifier, file });
      return content;
    } finally {
      await gateway.close();
    }
  });
}

interface Job {
  readonly plan: InstallPlan & { readonly integrity: string; readonly file: string };
  readonly options: InstallNpmOptions;
  readonly gateway: NpmGateway;
}

async function fill(partial: string, job: Job): Promise<string> {
  const { plan, options, gateway } = job;
  const content = join(partial, 'content');
  const work = join(partial, 'work');
  for (const place of [content, work, join(work, 'home'), join(work, 'tmp')])
    await mkdir(place, { mode: 0o700 });
  await writeFile(join(content, 'package.json'), '{ "private": true }\n');
  await writeFile(join(work, 'npmrc'), npmrc(gateway));
  await writeFile(join(work, 'global-npmrc'), '');
  await runNpm('choose', { content, work }, job);
  const lockFile = join(content, 'package-lock.json');
  const lock = await readFileText(lockFile, { maxBytes: MAX_JSON_BYTES });
  checkLock(lock, { ...plan, source: `${gateway.url}-/file/`, advisories: options.advisories });
  await runNpm('unpack', { content, work }, job);
  // They name the gateway, which ends with the installation.
  await rm(join(content, 'node_modules', '.package-lock.json'), { force: true });
  const registry = options.npm.registryOf(plan.identifier).url;
  await writeFile(
    lockFile,
    lock.replaceAll(gateway.url, () => registry),
  );
  return content;
}

const npmrc = ({ url, proxy }: NpmGateway): string =>
  [
    `registry=${url}`,
    `proxy=${proxy}`,
    `https-proxy=${proxy}`,
    // Not even the registry is exempt: other ports of this machine would be, too.
    'noproxy=',
    'fetch-retries=0',
    'git=/nonexistent/git',
    'lockfile-version=3',
    'omit-lockfile-registry-resolved=false',
    'replace-registry-host=never',
    'legacy-peer-deps=false',
    'install-strategy=hoisted',
    'loglevel=error',
    'logs-max=0',
    'progress=false',
    '',
  ].join('\n');

async function runNpm(
  step: 'choose' | 'unpack',
  { content, work }: { readonly content: string; readonly work: string },
  { plan, options, gateway }: Job,
): Promise<void> {
  const { npmFile, signal, environment } = options;
  const own = { program: process.execPath, args: [npmFile, ...npmArguments(step, plan)] };
  const confined = await confineProgram({
    ...own,
    write: [dirname(content)],
    read: [dirname(dirname(npmFile))],
    network: true,
    directory: content,
    environment,
  });
  const result = await tryProgram({
    ...(confined ?? { command: own.program, args: own.args }),
    cwd: content,
    env: {
      PATH: '/nonexistent',
      HOME: join(work, 'home'),
      TMPDIR: join(work, 'tmp'),
      npm_config_userconfig: join(work, 'npmrc'),
      npm_config_globalconfig: join(work, 'global-npmrc'),
      npm_config_cache: join(work, 'cache'),
    },
    timeoutMs: STEP_MS,
    signal: AbortSignal.any([signal, gateway.refused]),
    what: `Installing ${plan.identifier} ${plan.version}`,
    hint: 'Check that Node.js and npm are installed.',
  });
  gateway.refused.throwIfAborted();
  if (result.code !== 0) throw npmFailure(plan, result);
}

function npmFailure({ identifier, version }: InstallPlan, { stdout, stderr }: ProgramResult): Error {
  const { code, summary } = readNpmError(stdout);
  const why = [code, summary].filter((part) => part !== undefined).join(': ') || stderr.trim().slice(-300);
  return installError(
    'FETCH_REFUSED',
    `npm could not install ${identifier} ${version} (${why}).`,
    'Choose another version or another server. If npm names a network error, try again later.',
  );
}

/** npm writes its error as JSON. Untrusted text: packages choose a part of it. */
function readNpmError(stdout: string): { readonly code?: string; readonly summary?: string } {
  try {
    const parsed: unknown = JSON.parse(stdout);
    const error = isRecord(parsed) && isRecord(parsed.error) ? parsed.error : {};
    const short = (value: unknown): string | undefined =>
      typeof value === 'string' && value !== '' ? value.slice(0, 300) : undefined;
    const [code, summary] = [short(error.code), short(error.summary)];
    return { ...(code !== undefined && { code }), ...(summary !== undefined && { summary }) };
  } catch {
    return {};
  }
}

/** The program is what the plan shows: the same file, really in the package, and JavaScript. */
async function checkProgram(
  content: string,
  { identifier, file }: { readonly identifier: string; readonly file: string },
): Promise<void> {
  const own = join(content, 'node_modules', ...identifier.split('/'));
  const path = join(content, file);
  const manifest: unknown = JSON.parse(
    await readFileText(join(own, 'package.json'), { maxBytes: MAX_JSON_BYTES }),
  );
  const bin = isRecord(manifest) ? manifest.bin : undefined;
  const files = typeof bin === 'string' ? [bin] : isRecord(bin) ? Object.values(bin) : [];
  if (!files.some((one) => typeof one === 'string' && join(own, one) === path))
    throw packageRefused(
      `The "bin" entry in the installed package.json of ${identifier} differs from the one in the registry.`,
    );
  const facts = await lstat(path).catch(() => undefined);
  const real = facts?.isFile() === true ? await realpath(path) : undefined;
  if (real?.startsWith((await realpath(own)) + sep) !== true)
    throw packageRefused(`The program ${file} of ${identifier} is not a file in the package.`);
  if (!(await isJavaScript(path)))
    throw packageRefused(
      `The program ${file} of ${identifier} is not JavaScript. Only JavaScript programs can be run.`,
    );
}

async function isJavaScript(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    const [line = ''] = buffer.toString('latin1', 0, bytesRead).split('\n');
    const isScript = line.startsWith('#!');
    return isScript ? /^#!\s*\S*\/(env\s+(-S\s+)?)?node(js)?(\s|$)/.test(line) : /\.[cm]?js$/.test(file);
  } finally {
    await handle.close();
  }
}
