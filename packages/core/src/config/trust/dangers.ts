/**
 * What in a server's entry makes it run something else than it seems to, or with more rights: for whoever is asked to
 * agree to it. Pure, and about what is written only; an entry without any of it may still do harm.
 */
import { isRecord } from '../is-record.js';
import { isLoudVariable } from './loud-variables.js';

interface Trait {
  readonly programs: RegExp;
  /** What is dangerous about an argument, given the one that follows it. */
  readonly find: (arg: string, next: string) => string | undefined;
}

/** The name of an option, and what stands for its value. */
function split(arg: string, next: string): [flag: string, value: string] {
  const cut = arg.startsWith('-') ? arg.indexOf('=') : -1;
  return cut === -1 ? [arg, next] : [arg.slice(0, cut), arg.slice(cut + 1)];
}

const flagged =
  (pattern: RegExp, what: string) =>
  (arg: string, next: string): string | undefined => {
    const [flag] = split(arg, next);
    return pattern.test(flag) ? `${flag} ${what}` : undefined;
  };

const words = (text: string): RegExp => new RegExp(`^(?:${text.split(' ').join('|')})$`);

/** The whole machine, its settings, everybody's files, or the socket that gives all of it. */
const WIDE =
  /^(\/((etc|root|home|usr|var|proc|sys|dev|boot|run)\/?)?|~\/?|\$\{?(HOME|userHome)\}?\/?|.*(docker|podman|containerd)\.sock)$/;

function containerDanger(arg: string, next: string): string | undefined {
  const [flag, value] = split(arg, next);
  if (flag === '--privileged') return '--privileged gives the container all rights of the machine';
  const opens =
    /^--(cap-add|device|device-cgroup-rule|security-opt|volumes-from)$/.test(flag) ||
    (/^--(pid|net|network|ipc|uts|userns|cgroupns)$/.test(flag) && value === 'host');
  if (opens) return `${flag} ${value} takes a wall of the container away`;
  const source = mountSource(arg, flag, value);
  return source !== undefined && WIDE.test(source)
    ? `mounts ${source} of this machine into the container`
    : undefined;
}

function mountSource(arg: string, flag: string, value: string): string | undefined {
  if (flag === '--mount') return /(?:^|,)(?:source|src)=([^,]*)/.exec(value)?.[1];
  if (flag === '-v' || flag === '--volume') return value.split(':')[0];
  return arg.startsWith('-v') ? arg.slice(2).split(':')[0] : undefined;
}

const SHELLS = words('sh bash dash zsh ksh mksh ash fish csh tcsh busybox cmd powershell pwsh nu');
const INTERPRETERS = words(
  'node nodejs bun deno ts-node tsx python[\\d.]* pypy[\\d.]* perl ruby php lua[\\d.]* rscript osascript',
);
const LAUNCHERS = words('npx npm pnpm pnpx yarn bunx bun uvx uv pipx pip[\\d.]*');
const CONTAINERS = words('docker podman nerdctl');

const TRAITS: readonly Trait[] = [
  {
    programs: SHELLS,
    find: flagged(
      /^(-[a-z]*c|\/[ck]|-{1,2}(command|commands|encodedcommand|enc|ec))$/i,
      'runs a text as a program',
    ),
  },
  {
    programs: INTERPRETERS,
    find: flagged(/^(-[a-z]*[cepr]|--eval|--print|--run|eval)$/i, 'runs a text as a program, or loads more'),
  },
  {
    programs: words('node nodejs bun ts-node tsx'),
    find: flagged(
      /^--(require|import|loader|experimental-loader|preload|env-file|inspect.*)$/,
      'loads more into the program, or opens it to others',
    ),
  },
  { programs: /^deno$/, find: flagged(/^(-A|--allow-(all|run|ffi))$/, 'gives the program all rights') },
  {
    programs: LAUNCHERS,
    find: flagged(
      /^(-c|-n|--(call|node-options?|node-arg|script-shell|shell|userconfig|globalconfig|prefix))$/,
      'runs something else than the package',
    ),
  },
  {
    programs: LAUNCHERS,
    find: flagged(
      /^(-i|--(registry|index|index-url|extra-index-url|default-index|find-links|trusted-host|allow-insecure-host))$/,
      'takes packages from somewhere else',
    ),
  },
  { programs: CONTAINERS, find: containerDanger },
  {
    programs: CONTAINERS,
    find: flagged(/^(-H|--(host|context|url))$/, 'talks to another container engine'),
  },
];

/** Programs that run the one named in their arguments. */
const WRAPPERS = words(
  'env nice nohup setsid stdbuf time timeout xargs exec command ionice chrt taskset cross-env dotenv dotenvx ' +
    'sudo doas su runuser pkexec chroot unshare nsenter',
);
const RIGHTS = words('sudo doas su runuser pkexec chroot nsenter');

/** Sentences without a full stop, in the order of the entry; none of them holds a value of a variable. */
export function dangersOf(entry: Readonly<Record<string, unknown>>): string[] {
  const { command, args, env, inheritEnv } = entry;
  const line = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  const names = [
    ...(isRecord(env) ? Object.keys(env) : []),
    ...(Array.isArray(inheritEnv) ? inheritEnv.filter((name) => typeof name === 'string') : []),
  ];
  return [...new Set([...commandDangers(line), ...names.flatMap(variableDanger)])];
}

const variableDanger = (name: string): string[] =>
  isLoudVariable(name) ? [`the variable ${name} changes what programs load, run or trust`] : [];

/** Of the program that is run in the end, and of all that run another one on the way there, in one pass over the words. */
function commandDangers(line: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at !== -1; at = nextProgram(line, at)) {
    const program = nameOf(line[at] ?? '');
    if (!WRAPPERS.test(program)) return [...found, ...programDangers(program, line.slice(at + 1))];
    if (RIGHTS.test(program)) found.push(`${program} runs it with other rights`);
    // What the first one sets is all that any of them sets.
    if (at === 0) for (const arg of line.slice(1)) found.push(...assignmentDanger(arg));
  }
  return found;
}

/** Which word is the program depends on the wrapper's options: the first that could be is taken. */
function nextProgram(line: readonly string[], wrapper: number): number {
  for (let at = wrapper + 1; at < line.length; at += 1) if (isProgram(nameOf(line[at] ?? ''))) return at;
  return -1;
}

const assignmentDanger = (arg: string): string[] => variableDanger(/^([A-Za-z_]\w*)=/.exec(arg)?.[1] ?? '');

function programDangers(program: string, args: readonly string[]): string[] {
  const own = ownArguments(program, args);
  return TRAITS.filter(({ programs }) => programs.test(program)).flatMap(({ find }) =>
    own.flatMap((arg, index) => {
      const found = find(arg, own[index + 1] ?? '');
      return found === undefined ? [] : [`${program}: ${found}`];
    }),
  );
}

const ENDS_OPTIONS = [SHELLS, INTERPRETERS, CONTAINERS, words('npx pnpx bunx uvx')];
const SUBCOMMAND = words('run exec x dlx tool create container eval');
const SWITCH = words('-y --yes -q --quiet -s --silent -i -t -it -ti --rm --init -u -B -I --no-warnings');

/** Without those that belong to the script, package or image; when in doubt, with them. */
function ownArguments(program: string, args: readonly string[]): readonly string[] {
  if (!ENDS_OPTIONS.some((pattern) => pattern.test(program))) return args;
  const end = args.findIndex((arg, index) => {
    if (arg === '--') return true;
    const before = args[index - 1] ?? '';
    // What follows an option may be its value.
    const mayBeValue = before.startsWith('-') && !before.includes('=') && !SWITCH.test(before);
    return !/^[-/]/.test(arg) && !SUBCOMMAND.test(arg) && !mayBeValue;
  });
  return end === -1 ? args : args.slice(0, end);
}

const isProgram = (name: string): boolean =>
  WRAPPERS.test(name) || TRAITS.some(({ programs }) => programs.test(name));

/** `C:\Tools\Node.EXE` is `node`. */
function nameOf(word: string): string {
  const [name = ''] = word.split(/[\\/]/).slice(-1);
  return name.toLowerCase().replace(/\.(exe|cmd|bat|ps1|com)$/, '');
}
