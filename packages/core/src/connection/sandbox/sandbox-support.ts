/**
 * Whether this machine supports sandboxes: the required programs are searched and tried, not assumed. A success is
 * cached for this process; a failure is tried again, because the programs may have been installed meanwhile.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { findProgram } from './program.js';

export interface SandboxPrograms {
  readonly bwrap: string;
  readonly prlimit: string;
}

export type SandboxSupport =
  | ({ readonly available: true } & SandboxPrograms)
  | { readonly available: false; readonly reason: string; readonly hint: string };

export interface SupportQuery {
  /** The environment of the host: its PATH is searched, absolute directories only. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly network: boolean;
  readonly platform?: NodeJS.Platform;
}

/** Everything except files: a process inside sees no other process, gains no privileges and dies with its host. */
export function isolationArguments(network: boolean): string[] {
  const own = ['user', 'pid', 'ipc', 'uts', ...(network ? [] : ['net'])].map((space) => `--unshare-${space}`);
  return [
    ...own,
    '--unshare-cgroup-try',
    '--disable-userns',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
  ];
}

const TRIAL_TIMEOUT_MS = 10_000;
const trials = new Map<string, Promise<string | undefined>>();

export async function findSandboxSupport(question: SupportQuery): Promise<SandboxSupport> {
  const { environment, network, platform = process.platform } = question;
  if (platform !== 'linux')
    return {
      available: false,
      reason: `sandboxes are not supported on ${platform}`,
      hint: 'Use a container or a separate user',
    };
  const place = { path: environment.PATH, directory: undefined };
  const bwrap = await findProgram('bwrap', place);
  if (bwrap === undefined) return missing('bubblewrap (bwrap)', 'bubblewrap');
  const prlimit = await findProgram('prlimit', place);
  if (prlimit === undefined) return missing('prlimit', 'util-linux');
  const fault = await tryCached({ bwrap, prlimit }, network);
  return fault === undefined
    ? { available: true, bwrap, prlimit }
    : { available: false, reason: `a test run of ${bwrap} failed (${fault})`, hint: UNUSABLE_HINT };
}

/** Whether this machine supports sandboxes, and if not, what to do. Never rejects. */
export async function checkSandbox(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<
  | { readonly available: true; readonly version: string; readonly limitsProcesses: boolean }
  | { readonly available: false; readonly reason: string; readonly hint: string }
> {
  const support = await findSandboxSupport({ environment, network: false });
  if (!support.available) return support;
  const { stdout } = await run(support.bwrap, ['--version']);
  return { available: true, version: stdout.trim(), limitsProcesses: canLimitProcesses() };
}

const UNUSABLE_HINT =
  'Install bubblewrap 0.8 or newer, and allow it to create user namespaces (AppArmor on Ubuntu and some ' +
  'containers restrict this)';

const missing = (what: string, name: string): SandboxSupport => ({
  available: false,
  reason: `${what} is not installed`,
  hint: `Install the package ${name} (apt, dnf, apk, pacman or zypper)`,
});

/** What is wrong, or undefined. */
function tryCached(programs: SandboxPrograms, network: boolean): Promise<string | undefined> {
  const key = JSON.stringify([programs, network]);
  const known = trials.get(key);
  if (known !== undefined) return known;
  const trial = tryOut(programs, network);
  // Only success is cached.
  const forget = (): void => void trials.delete(key);
  trial.then((fault) => fault === undefined || forget(), forget);
  trials.set(key, trial);
  return trial;
}

async function tryOut({ bwrap, prlimit }: SandboxPrograms, network: boolean): Promise<string | undefined> {
  const files = [
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--size',
    '4096',
    '--tmpfs',
    '/tmp',
  ];
  const { fault, stdout } = await run(bwrap, [
    ...isolationArguments(network),
    ...files,
    '--',
    prlimit,
    '--version',
  ]);
  // A program of that name that does nothing succeeds too.
  return fault ?? (stdout.includes('prlimit') ? undefined : 'it did not run the specified command');
}

interface RunResult {
  readonly stdout: string;
  readonly fault: string | undefined;
}

function run(program: string, args: readonly string[]): Promise<RunResult> {
  return new Promise((resolve) => {
    const options = { timeout: TRIAL_TIMEOUT_MS, killSignal: 'SIGKILL', env: {}, cwd: '/' } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      const [said = ''] = stderr.trim().split('\n');
      resolve({ stdout, fault: error === null ? undefined : said || error.message });
    });
  });
}

/** Linux counts processes per user namespace since 5.14, and never limits the real root. */
export function canLimitProcesses(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return (major > 5 || (major === 5 && minor >= 14)) && !isRealRoot();
}

function isRealRoot(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    const [, outside] = readFileSync('/proc/self/uid_map', 'latin1').trim().split(/\s+/);
    return outside === '0';
  } catch {
    return true;
  }
}
