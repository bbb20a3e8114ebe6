/**
 * Warnings about an entry that runs something other than it seems to, or with more privileges: for the user who is
 * asked to agree. Pure, and based on the text only; an entry without warnings can still be harmful.
 */
import { environmentsOf } from '../credentials.js';
import { isUnsafeVariable } from './unsafe-variables.js';

interface DangerRule {
  readonly programs: RegExp;
  /** The danger of an argument, given the next one. */
  readonly find: (arg: string, next: string) => string | undefined;
}

/** The name of an option, and its value. */
function splitOption(arg: string, next: string): [flag: string, value: string] {
  const cut = arg.startsWith('-') ? arg.indexOf('=') : -1;
  return cut === -1 ? [arg, next] : [arg.slice(0, cut), arg.slice(cut + 1)];
}

const optionDanger =
  (pattern: RegExp, what: string) =>
  (arg: string, next: string): string | undefined => {
    const [flag] = splitOption(arg, next);
    return pattern.test(flag) ? `${flag} ${what}` : undefined;
  };

const anyWord = (text: string): RegExp => new RegExp(`^(?:${text.split(' ').join('|')})$`);

/** The whole machine, its settings, all home directories, or the socket of a container engine. */
const BROAD_MOUNTS =
  /^(\/((etc|root|home|usr|var|proc|sys|dev|boot|run)\/?)?|~\/?|\$\{?(HOME|userHome)\}?\/?|.*(docker|podman|containerd)\.sock)$/;

function containerDanger(arg: string, next: string): string | undefined {
  const [flag, value] = splitOption(arg, next);
  if (flag === '--privileged') return '--privileged gives the container full access to the host';
  const opens =
    /^--(cap-add|device|device-cgroup-rule|security-opt|volumes-from)$/.test(flag) ||
    (/^--(pid|net|network|ipc|uts|userns|cgroupns)$/.test(flag) && value === 'host');
  if (opens) return `${flag} ${value} weakens the isolation of the container`;
  const source = mountSource(arg, flag, value);
  return source !== undefined && BROAD_MOUNTS.test(source)
    ? `mounts ${source} from the host into the container`
    : undefined;
}

function mountSource(arg: string, flag: string, value: string): string | undefined {
  if (flag === '--mount') return /(?:^|,)(?:source|src)=([^,]*)/.exec(value)?.[1];
  if (flag === '-v' || flag === '--volume') return value.split(':')[0];
  return arg.startsWith('-v') ? arg.slice(2).split(':')[0] : undefined;
}

const SHELLS = anyWord('sh bash dash zsh ksh mksh ash fish csh tcsh busybox cmd powershell pwsh nu');
const INTERPRETERS = anyWord(
  'node nodejs bun deno ts-node tsx python[\\d.]* pypy[\\d.]* perl ruby php lua[\\d.]* rscript osascript',
);
const LAUNCHERS = anyWord('npx npm pnpm pnpx yarn bunx bun uvx uv pipx pip[\\d.]*');
const CONTAINERS = anyWord('docker podman nerdctl');

const DANGER_RULES: readonly DangerRule[] = [
  {
    programs: SHELLS,
    find: optionDanger(
      /^(-[a-z]*c|\/[ck]|-{1,2}(command|commands|encodedcommand|enc|ec))$/i,
      'runs code from the command line',
    ),
  },
  {
    programs: INTERPRETERS,
    find: optionDanger(
      /^(-[a-z]*[cepr]|--eval|--print|--run|eval)$/i,
      'runs code from the command line, or loads more code',
    ),
  },
  {
    programs: anyWord('node nodejs bun ts-node tsx'),
    find: optionDanger(
      /^--(require|import|loader|experimental-loader|preload|env-file|inspect.*)$/,
      'loads more code into the program, or lets a debugger control the program',
    ),
  },
  {
    programs: /^deno$/,
    find: optionDanger(/^(-A|--allow-(all|run|ffi))$/, 'gives the program all permissions'),
  },
  {
    programs: LAUNCHERS,
    find: optionDanger(
      /^(-c|-n|--(call|node-options?|node-arg|script-shell|shell|userconfig|globalconfig|prefix))$/,
      'can run something other than the package itself',
    ),
  },
  {
    programs: LAUNCHERS,
    find: optionDanger(
      /^(-i|--(registry|index|index-url|extra-index-url|default-index|find-links|trusted-host|allow-insecure-host))$/,
      'installs packages from a different source',
    ),
  },
  { programs: CONTAINERS, find: containerDanger },
  {
    programs: CONTAINERS,
    find: optionDanger(/^(-H|--(host|context|url))$/, 'connects to a different container engine'),
  },
];

/** Programs that run the program in their arguments. */
const WRAPPERS = anyWord(
  'env nice nohup setsid stdbuf time timeout xargs exec command ionice chrt taskset cross-env dotenv dotenvx ' +
    'sudo doas su runuser pkexec chroot unshare nsenter',
);
const PRIVILEGE_TOOLS = anyWord('sudo doas su runuser pkexec chroot nsenter');

/** Phrases without a period, in the order of the entry; none contains a value of a variable. */
export function dangersOf(entry: Readonly<Record<string, unknown>>): string[] {
  const { command, args, inheritEnv } = entry;
  const line = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  const names = [
    ...environmentsOf(entry).flatMap(({ env }) => Object.keys(env)),
    ...(Array.isArray(inheritEnv) ? inheritEnv.filter((name) => typeof name === 'string') : []),
  ];
  return [...new Set([...commandDangers(line), ...names.flatMap(variableDanger)])];
}

const variableDanger = (name: string): string[] =>
  isUnsafeVariable(name) ? [`environment variable ${name} changes what programs load, run or trust`] : [];

/** For the final program and all wrappers before it, in one pass. */
function commandDangers(line: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at !== -1; at = nextProgram(line, at)) {
    const program = nameOf(line[at] ?? '');
    if (!WRAPPERS.test(program)) return [...found, ...programDangers(program, line.slice(at + 1))];
    if (PRIVILEGE_TOOLS.test(program)) found.push(`${program} runs the server with different privileges`);
    // The first wrapper sees all assignments.
    if (at === 0) for (const arg of line.slice(1)) found.push(...assignmentDanger(arg));
  }
  return found;
}

/** Which word is the program depends on the options of the wrapper: the first candidate is used. */
function nextProgram(line: readonly string[], wrapper: number): number {
  for (let at = wrapper + 1; at < line.length; at += 1) if (isProgram(nameOf(line[at] ?? ''))) return at;
  return -1;
}

const assignmentDanger = (arg: string): string[] => variableDanger(/^([A-Za-z_]\w*)=/.exec(arg)?.[1] ?? '');

function programDangers(program: string, args: readonly string[]): string[] {
  const own = ownArguments(program, args);
  return DANGER_RULES.filter(({ programs }) => programs.test(program)).flatMap(({ find }) =>
    own.flatMap((arg, index) => {
      const found = find(arg, own[index + 1] ?? '');
      return found === undefined ? [] : [`${program}: ${found}`];
    }),
  );
}

const ENDS_OPTIONS = [SHELLS, INTERPRETERS, CONTAINERS, anyWord('npx pnpx bunx uvx')];
const SUBCOMMAND = anyWord('run exec x dlx tool create container eval');
const SWITCH = anyWord('-y --yes -q --quiet -s --silent -i -t -it -ti --rm --init -u -B -I --no-warnings');

/** Without the arguments of the script, package or image; including them when in doubt. */
function ownArguments(program: string, args: readonly string[]): readonly string[] {
  if (!ENDS_OPTIONS.some((pattern) => pattern.test(program))) return args;
  const end = args.findIndex((arg, index) => {
    if (arg === '--') return true;
    const before = args[index - 1] ?? '';
    // The word after an option may be its value.
    const mayBeValue = before.startsWith('-') && !before.includes('=') && !SWITCH.test(before);
    return !/^[-/]/.test(arg) && !SUBCOMMAND.test(arg) && !mayBeValue;
  });
  return end === -1 ? args : args.slice(0, end);
}

const isProgram = (name: string): boolean =>
  WRAPPERS.test(name) || DANGER_RULES.some(({ programs }) => programs.test(name));

/** `C:\Tools\Node.EXE` is `node`. */
function nameOf(word: string): string {
  const [name = ''] = word.split(/[\\/]/).slice(-1);
  return name.toLowerCase().replace(/\.(exe|cmd|bat|ps1|com)$/, '');
}
