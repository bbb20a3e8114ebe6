/**
 * Kills a server and calls it again, some times. Prints the outcomes of the calls as JSON. In a process of its own: where other
 * threads start processes, too, these have the pipes of a server open for a moment, and a write to a dead server succeeds.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createRuntime } from 'turnbuckle';

const [config = '', stateDir = '', rounds = '', pauseMs = ''] = process.argv.slice(2);

const isAlive = (pid) => !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

/**
 * Waits without letting our event loop notice that the process has ended. Its pipes are closed only when
 * its last thread has ended, a moment after the process itself counts as dead.
 */
function waitForExitSync(pid) {
  while (isAlive(pid) || readdirSync(`/proc/${pid}/task`).length > 1) spawnSync('sleep', ['0.005']);
}

const runtime = await createRuntime({ servers: { echo: JSON.parse(config) }, stateDir });
await runtime.connectAll();
const outcomes = [];
runtime.on('call.settled', ({ outcome, error }) => outcomes.push(error?.code ?? outcome));
let restarts = 0;
for (let round = 0; round < Number(rounds); round += 1) {
  const { pid = 0 } = runtime.serverStatus('echo');
  process.kill(pid, 'SIGKILL');
  waitForExitSync(pid);
  if (Number(pauseMs) > 0) await delay(Number(pauseMs));
  await runtime.callTool('echo', 'count', { label: `round ${round}` }).catch(() => {});
  if (runtime.serverStatus('echo').pid !== pid) restarts += 1;
}
await runtime.close();
process.stdout.write(JSON.stringify({ outcomes, restarts }));
