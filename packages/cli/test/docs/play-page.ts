/** Runs the shell blocks of a page with the built command, in its own home. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { root } from './repository.js';
import { type ShellCommand, type Step, toLines } from './shell-blocks.js';

/** Programs that the pages use: the command itself, and a server to try it with. */
const PROGRAMS = {
  turnbuckle: 'packages/cli/dist/bin.js',
  'demo-server': 'testing/dist/servers/echo.js',
} as const;

/** The Node version and platform that the pages show. */
const SHOWN_NODE = 'v20.20.2 on linux x64';
const ACTUAL_NODE = `${process.version} on ${process.platform} ${process.arch}`;

/** Printed only on slow machines. */
const SLOW_NOTICE = /^(Connecting|Calling|Checking|Reading|Waiting)\b.* …$/;

const BETWEEN = '\u001e';
const LIMIT_MS = 60_000;

export interface Stage {
  /** Writes the file, or runs the block's commands in order in one shell; returns what each printed. */
  play(step: Step): Promise<readonly ShellCommand[]>;
  close(): void;
}

/** A new home with an empty project in it, where the shell starts; `directory` makes it start elsewhere. */
export function openStage(directory?: string): Stage {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'pages-')));
  const programs = join(home, '.programs');
  const cwd = directory ?? join(home, 'project');
  mkdirSync(join(home, 'project'));
  mkdirSync(programs);
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(
      join(programs, name),
      `#!/bin/sh\nexec "${process.execPath}" "${join(root, script)}" "$@"\n`,
    );
    chmodSync(join(programs, name), 0o755);
  }
  const path = [programs, dirname(process.execPath), process.env.PATH].join(delimiter);
  const run = (script: string): Promise<string> =>
    runShell(script, { cwd, env: { HOME: home, PATH: path, LANG: 'C.UTF-8' } });
  return {
    async play(step) {
      if (step.kind === 'shell') return playCommands(step.commands, { home, run });
      const file = step.path.replace(/^~/, home);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, step.text);
      return [];
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

async function playCommands(
  commands: readonly ShellCommand[],
  { home, run }: { home: string; run: (script: string) => Promise<string> },
): Promise<ShellCommand[]> {
  // The mark between commands keeps the exit code, so that `echo $?` shows it.
  const mark = `mark() { local code=$?; printf '${BETWEEN}'; return $code; }`;
  const printed = await run(
    ['exec 2>&1', mark, ...commands.flatMap(({ command }) => ['mark', command])].join('\n'),
  );
  const parts = printed.split(BETWEEN).slice(1);
  return commands.map(({ command }, index) => ({ command, output: tidy(parts[index] ?? '', home) }));
}

function tidy(text: string, home: string): string[] {
  const lines = toLines(text.replaceAll(home, '~').replaceAll(ACTUAL_NODE, SHOWN_NODE));
  const kept = lines.filter((line) => !SLOW_NOTICE.test(line));
  return kept.length === 1 && kept[0] === '' ? [] : kept;
}

/** The output of the script. Its exit code is ignored: where it matters, the page prints it. */
function runShell(script: string, options: { cwd: string; env: Record<string, string> }): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('bash', ['-c', script], { ...options, timeout: LIMIT_MS }, (error, stdout) => {
      if (error === null || (typeof error.code === 'number' && !error.killed)) resolve(stdout);
      else reject(error);
    });
    // No question gets an answer.
    child.stdin?.end();
  });
}
