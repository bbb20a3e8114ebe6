// The cost of the command in a shell: whole processes, from start to exit, compared with a bare Node.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stdioServer } from '../harness/bare-server.mjs';
import { calm } from '../harness/calm.mjs';
import { command, startDaemon } from '../harness/daemon.mjs';
import { median } from '../harness/statistics.mjs';
import { ours } from '../subjects.mjs';

const perRound = 3;

/** @param {string[]} args @param {NodeJS.ProcessEnv} env */
function timeProcess(args, env) {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const elapsedMs = performance.now() - start;
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return { elapsedMs, stdout };
}

/** @param {string} home */
function writeConfig(home) {
  const { command: program, args } = stdioServer('bench', { tools: 10 });
  const directory = join(home, '.config', 'turnbuckle');
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, 'mcp.json'),
    JSON.stringify({ servers: { bench: { command: program, args } } }),
  );
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runCommandLine(context) {
  const wanted = ['cli-help', 'cli-call', 'cli-warm'].filter((figure) => context.wants(figure));
  if (wanted.length === 0) return;
  const home = join(context.scratchDirectory, 'home');
  writeConfig(home);
  const { XDG_CONFIG_HOME: _config, XDG_STATE_HOME: _state, ...rest } = process.env;
  const env = { ...rest, HOME: home, TURNBUCKLE_STATE_DIR: join(home, 'state') };
  const commands = {
    'cli-help': [command, '--help'],
    'cli-call': [command, 'call', 'bench', 'echo', 'text=hi'],
    'cli-warm': [command, 'call', 'bench', 'echo', 'text=hi'],
  };
  for (const figure of wanted) {
    context.note(figure);
    const daemon = figure === 'cli-warm' ? await startDaemon({ env }) : undefined;
    try {
      timeProcess(commands[figure], env); // the first run detects the server's era
      for (let round = 0; round < context.rounds; round++) {
        await calm();
        const bare = [];
        const measured = [];
        for (let run = 0; run < perRound; run++) {
          bare.push(timeProcess(['-e', '0'], env).elapsedMs);
          measured.push(timeProcess(commands[figure], env).elapsedMs);
        }
        context.measurements.record({
          figure,
          subject: ours.id,
          round,
          value: median(measured) / median(bare),
        });
      }
    } catch (error) {
      context.measurements.fail({ figure, subject: ours.id, error });
    } finally {
      await daemon?.stop();
    }
  }
}
