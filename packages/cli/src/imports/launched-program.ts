/** The program that a command line starts, without shells and package runners. */

export interface LaunchedProgram {
  /** The package or program, without its version. */
  readonly name: string;
  readonly args: readonly string[];
}

interface Runner {
  /** Words that must follow the runner's name. */
  readonly words: readonly string[];
  /** Flags that only concern the download. */
  readonly flags: readonly string[];
}

const COMMON_FLAGS = ['-y', '--yes', '-q', '--quiet', '--silent'];
const RUNNERS: ReadonlyMap<string, readonly Runner[]> = new Map([
  ['npx', [{ words: [], flags: [...COMMON_FLAGS, '--prefer-offline', '--prefer-online'] }]],
  [
    'npm',
    [
      { words: ['exec'], flags: [...COMMON_FLAGS, '--'] },
      { words: ['x'], flags: [...COMMON_FLAGS, '--'] },
    ],
  ],
  ['bunx', [{ words: [], flags: [...COMMON_FLAGS, '--bun'] }]],
  ['bun', [{ words: ['x'], flags: [...COMMON_FLAGS, '--bun'] }]],
  ['pnpm', [{ words: ['dlx'], flags: COMMON_FLAGS }]],
  ['pnpx', [{ words: [], flags: COMMON_FLAGS }]],
  ['yarn', [{ words: ['dlx'], flags: COMMON_FLAGS }]],
  ['uvx', [{ words: [], flags: ['-q', '--quiet'] }]],
  ['uv', [{ words: ['tool', 'run'], flags: ['-q', '--quiet'] }]],
  ['pipx', [{ words: ['run'], flags: ['-q', '--quiet'] }]],
]);

/** Takes off `cmd /c`, which only Windows needs, and only for scripts such as npx. */
export function withoutShell(command: string, args: readonly string[]): readonly [string, readonly string[]] {
  if (programName(command) !== 'cmd') return [command, args];
  const at = args.findIndex((arg) => /^\/c$/i.test(arg));
  const inner = args[at + 1];
  const onlySwitches = args.slice(0, at).every((arg) => /^\/[ds]$/i.test(arg));
  // What follows could be a whole command line in one text; that needs the shell.
  if (at === -1 || inner === undefined || !onlySwitches || /[\s&|<>^%]/.test(inner)) return [command, args];
  return [inner, args.slice(at + 2)];
}

/** The program behind a runner such as npx or uvx, or the command itself. */
export function launchedProgram(command: string, args: readonly string[]): LaunchedProgram {
  const [program, rest] = withoutShell(command, args);
  const runner = RUNNERS.get(programName(program))?.find(({ words }) =>
    words.every((word, index) => rest[index] === word),
  );
  if (runner === undefined) return { name: programName(program), args: rest };
  let at = runner.words.length;
  while (runner.flags.includes(rest[at] ?? '')) at += 1;
  return { name: withoutVersion(rest[at] ?? ''), args: rest.slice(at + 1) };
}

function programName(command: string): string {
  const last = command.split(/[\\/]/).at(-1) ?? command;
  return last.toLowerCase().replace(/\.(exe|cmd|bat)$/, '');
}

const withoutVersion = (name: string): string => /^(@?[^@=]+)(?:@|==).*$/.exec(name)?.[1] ?? name;
