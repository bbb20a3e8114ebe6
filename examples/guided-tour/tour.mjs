// A tour of Turnbuckle with three published MCP servers. Every stop checks its outcome; a failed check ends the
// tour with one sentence and exit code 1.
import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createRuntime } from 'turnbuckle';
import { installServers, serverScript } from '../../e2e/real-servers/published-servers.mjs';
import { MARK } from '../../scripts/marked-processes.mjs';
import { failAlone, leaveNothing, makeCalls, showTools, startTogether, surviveCrash } from './stops.mjs';
import { bold, dim, green, heading, paragraph, red, table } from './terminal.mjs';

const names = /** @type {const} */ (['everything', 'filesystem', 'memory']);
const mark = randomUUID();
const directory = await realpath(await mkdtemp(path.join(os.tmpdir(), 'turnbuckle-tour-')));

console.log(`\n${bold('Turnbuckle')} ${dim('every MCP server through one port')}`);
/** @type {import('turnbuckle').Runtime | undefined} */
let runtime;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true;
    void cleanUp().finally(() => process.exit(130));
  });
}
try {
  await installServers(names, (line) => paragraph(line, dim));
  const servers = await configuration();
  runtime = await createRuntime({ servers, stateDir: path.join(directory, 'state') });
  await startTogether(runtime, names);
  showTools(runtime, names);
  await makeCalls(runtime, directory);
  await surviveCrash(runtime);
  await failAlone(runtime, { servers, names });
  await leaveNothing(runtime, mark);
  farewell();
} catch (error) {
  if (!interrupted) {
    heading('The tour stopped here');
    paragraph(error instanceof Error ? error.message : String(error), red);
  }
  process.exitCode = 1;
} finally {
  await cleanUp();
}

async function cleanUp() {
  await runtime?.close();
  await rm(directory, { recursive: true, force: true });
}

/** The configuration that a user would write, with scripts instead of `npx -y …`. */
async function configuration() {
  const [everything, filesystem, memory] = await Promise.all(names.map(serverScript));
  const command = process.execPath;
  const env = { [MARK]: mark };
  return {
    everything: { command, args: [String(everything)], env },
    filesystem: { command, args: [String(filesystem), directory], env },
    memory: {
      command,
      args: [String(memory)],
      env: { ...env, MEMORY_FILE_PATH: path.join(directory, 'memory.jsonl') },
    },
  };
}

function farewell() {
  heading('Everything happened as told');
  paragraph('Where to go from here:', green);
  table(
    [
      ['README.md', 'what Turnbuckle is'],
      ['docs/', 'guides, errors, architecture'],
      ['examples/quickstart/quickstart.mjs', 'the same in twenty lines'],
      ['examples/guided-tour/stops.mjs', 'what you have just seen'],
    ],
    (cell, column) => (column === 0 ? bold(cell) : cell),
  );
  console.log('');
}
