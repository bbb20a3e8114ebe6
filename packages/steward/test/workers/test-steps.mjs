// Steps for tests, run by real worker processes. `changes` of the request says what they do; what they did is in files of
// the directory in the settings: `log` has a line for each start and end of a step, `<id>.<name>` are effects.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tryProgram } from '../../dist/install/run-program.js';

const fileOf = ({ request, services }, name) => join(services.settings.directory, `${request.id}.${name}`);

function log({ request, services }, step, what) {
  const line = {
    id: request.id,
    step,
    what,
    pid: process.pid,
    at: performance.timeOrigin + performance.now(),
  };
  appendFileSync(join(services.settings.directory, 'log'), `${JSON.stringify(line)}\n`);
}

async function pretendToWork(context) {
  const { ms = 0 } = context.request.params.changes;
  await pause(ms, undefined, { signal: context.signal });
}

/** A process that does nothing for long. */
const startChild = () =>
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'], { stdio: 'ignore' });

/** A program whose process, in a group of its own, writes its id for as long as it runs, also while another one runs. */
const programOf = (context) => {
  const file = JSON.stringify(fileOf(context, 'programs'));
  return `setInterval(() => require('node:fs').appendFileSync(${file}, process.pid + ' '), 5)`;
};

const BEHAVIOURS = {
  work: pretendToWork,
  async child(context) {
    const child = startChild();
    writeFileSync(fileOf(context, 'pid'), String(child.pid));
    context.signal.addEventListener('abort', () => child.kill('SIGKILL'));
    await once(child, 'exit');
    throw new Error('interrupted');
  },
  /** Does not listen to its signal, and neither does its child. */
  async stuck(context) {
    const child = startChild();
    writeFileSync(fileOf(context, 'pid'), String(child.pid));
    await once(child, 'exit');
    await pause(600_000);
  },
  async program(context) {
    await tryProgram({
      command: process.execPath,
      args: ['-e', programOf(context)],
      cwd: context.services.settings.directory,
      env: {},
      timeoutMs: 600_000,
      signal: context.signal,
      what: 'The test program',
      hint: '',
    });
  },
  async fail() {
    throw new Error('it is broken');
  },
  async crash() {
    process.kill(process.pid, 'SIGKILL');
    await pause(600_000);
  },
  async approval({ services }) {
    const asked = services.approvals.ask({
      step: 'work',
      subject: { command: ['node'] },
      fields: [],
      expiresAt: services.now() + 60_000,
    });
    if (asked.answer === undefined) return { waitFor: 'approval' };
    if (asked.answer !== 'yes') throw new Error('not approved');
    return undefined;
  },
};

/** An effect that can be repeated, but is there once. */
const put = (context, name) => writeFileSync(fileOf(context, name), '');
const remove = (context, name) => rmSync(fileOf(context, name), { force: true });

function step(name, run, undoRun) {
  return {
    name,
    async run(context) {
      log(context, name, 'start');
      const result = await run(context);
      log(context, name, 'end');
      return result ?? {};
    },
    async undo(context) {
      await undoRun?.(context);
      log(context, name, 'undo');
    },
  };
}

const SCENARIO = [
  step(
    'prepare',
    async (context) => {
      put(context, 'prepared');
      await pretendToWork(context);
      return { data: { prepared: context.request.id } };
    },
    (context) => {
      if (context.request.params.changes.undo === 'fail') throw new Error('it stays');
      remove(context, 'prepared');
    },
  ),
  step(
    'work',
    async (context) => {
      if (context.data.prepared !== context.request.id) throw new Error('not prepared');
      context.progress(50, 'Half of the work.');
      put(context, 'effect');
      return BEHAVIOURS[context.request.params.changes.behaviour ?? 'work'](context);
    },
    (context) => remove(context, 'effect'),
  ),
  step('finish', async (context) => {
    await pretendToWork(context);
    return { done: { id: context.request.id, environment: Object.keys(process.env) } };
  }),
];

export const steps = {
  add_server: SCENARIO,
  remove_server: SCENARIO,
  test_server: SCENARIO,
  search_servers: SCENARIO,
  modify_server: SCENARIO,
};
