/** Which program a command line really starts, once shells and package runners are taken off. */
const YES = ['-y', '--yes', '-q', '--quiet', '--silent'];
const RUNNERS = new Map([
  ['npx', [{ words: [], flags: [...YES, '--prefer-offline', '--prefer-online'] }]],
  [
    'npm',
    [
      { words: ['exec'], flags: [...YES, '--'] },
      { words: ['x'], flags: [...YES, '--'] },
    ],
  ],
  ['bunx', [{ words: [], flags: [...YES, '--bun'] }]],
  ['bun', [{ words: ['x'], flags: [...YES, '--bun'] }]],
  ['pnpm', [{ words: ['dlx'], flags: YES }]],
  ['pnpx', [{ words: [], flags: YES }]],
  ['yarn', [{ words: ['dlx'], flags: YES }]],
  ['uvx', [{ words: [], flags: ['-q', '--quiet'] }]],
  ['uv', [{ words: ['tool', 'run'], flags: ['-q', '--quiet'] }]],
  ['pipx', [{ words: ['run'], flags: ['-q', '--quiet'] }]],
]);
/** Takes off `cmd /c`, which only Windows needs, and only for scripts such as npx. */
export function withoutShell(command, args) {
  if (programName(command) !== 'cmd') return [command, args];
  const at = args.findIndex((arg) => /^\/c$/i.test(arg));
  const inner = args[at + 1];
  const onlySwitches = args.slice(0, at).every((arg) => /^\/[ds]$/i.test(arg));
  // What follows could be a whole command line in one text; that needs the shell.
  if (at === -1 || inner === undefined || !onlySwitches || /[\s&|<>^%]/.test(inner)) return [command, args];
  return [inner, args.slice(at + 2)];
}
/** The program behind a runner such as npx or uvx, or the command itself. */
export function launchedProgram(command, args) {
  const [program, rest] = withoutShell(command, args);
  const runner = RUNNERS.get(programName(program))?.find(({ words }) =>
    words.every((word, index) => rest[index] === word),
  );
  if (runner === undefined) return { name: programName(program), args: rest };
  let at = runner.words.length;
  while (runner.flags.includes(rest[at] ?? '')) at += 1;
  return { name: withoutVersion(rest[at] ?? ''), args: rest.slice(at + 1) };
}
function programName(command) {
  const last = command.split(/[\\/]/).at(-1) ?? command;
  return last.toLowerCase().replace(/\.(exe|cmd|bat)$/, '');
}
const withoutVersion = (name) => /^(@?[^@=]+)(?:@|==).*$/.exec(name)?.[1] ?? name;
//# sourceMappingURL=launched-program.js.map
