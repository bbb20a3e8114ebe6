import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { Flags } from '../kernel/flags.js';
import { serve } from '../serve.js';
import { createBasicTools } from '../tools/basic-tools.js';

// Ignores SIGTERM, SIGINT, SIGHUP and the end of stdin, and so do its grandchildren: one in its own process group,
// one detached, one behind `sh -c`; all hold its stdout open. Each writes `<role> <pid>` to --pid-file.
// --no-grandchildren; --life-ms limits the lifetime of each process, so that a failed test leaves none behind.
const flags = new Flags();
const pidFile = flags.text('pid-file', '/dev/null');
const lifeMs = flags.number('life-ms', 120_000);

// Ignored signals stay ignored across exec, so `sleep` itself ignores them.
const IGNORE_SIGNALS = `trap '' TERM INT HUP; echo "$0 $$" >> "$1"; `;
const SLEEP = `${IGNORE_SIGNALS}exec sleep "$2"`;
const SHELL = `${IGNORE_SIGNALS}sh -c '${SLEEP.replaceAll("'", `'\\''`)}' behind-shell "$1" "$2"; true`;

function spawnStubborn(script: string, role: string, detached = false): void {
  const args = ['-c', script, role, pidFile, String(lifeMs / 1000)];
  spawn('sh', args, { stdio: ['ignore', 'inherit', 'inherit'], detached }).unref();
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
setTimeout(() => process.exit(0), lifeMs);
appendFileSync(pidFile, `server ${process.pid}\n`);
if (!flags.on('no-grandchildren')) {
  spawnStubborn(SLEEP, 'same-group');
  spawnStubborn(SLEEP, 'detached', true);
  spawnStubborn(SHELL, 'shell');
}

await serve({ name: 'stubborn', tools: createBasicTools() }, { flags, outliveStdin: true });
