// The stops of the tour. Each one does something with the runtime, prints it, and checks the outcome.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { canSeeProcesses, markedProcesses } from '../../scripts/marked-processes.mjs';
import { bold, dim, green, heading, paragraph, red, table, yellow } from './terminal.mjs';

/** @typedef {import('turnbuckle').Runtime} Runtime */

/** A failed check of a stop; the message says what should have happened. */
export class CheckFailed extends Error {}

/**
 * @param {Runtime} runtime
 * @param {readonly string[]} names
 */
export async function startTogether(runtime, names) {
  heading('1. Three published servers, started together');
  const startedAt = performance.now();
  await runtime.connectAll();
  const seconds = since(startedAt);
  printStatus(runtime);
  for (const name of names) {
    const { status, error } = runtime.serverStatus(name);
    check(
      status === 'connected',
      `${name} should be connected but is ${status}: ${error?.message ?? 'no reason given'}`,
    );
  }
  paragraph(`All up after ${seconds}.`, green);
}

/**
 * @param {Runtime} runtime
 * @param {readonly string[]} names
 */
export function showTools(runtime, names) {
  heading('2. One list of tools');
  const tools = runtime.tools();
  const examples = names.flatMap((name) => tools.filter((tool) => tool.server === name).slice(0, 3));
  paragraph(
    `${tools.length} tools from ${names.length} servers, each under a name of its own. A few of them:`,
  );
  table(
    examples.map((tool) => [tool.name, tool.description ?? '']),
    (cell, column) => (column === 0 ? bold(cell) : dim(cell)),
  );
  for (const name of names) {
    check(
      tools.some((tool) => tool.server === name),
      `${name} should offer tools but none is listed.`,
    );
  }
  check(
    new Set(tools.map((tool) => tool.name)).size === tools.length,
    'Every tool should have a name of its own.',
  );
}

/**
 * @param {Runtime} runtime
 * @param {string} directory
 */
export async function makeCalls(runtime, directory) {
  heading('3. Calls');
  const file = path.join(directory, 'letter.txt');
  const ada = { name: 'Ada Lovelace', entityType: 'person', observations: ['wrote the first program'] };
  await expectAnswer(runtime, 'mcp__everything__echo', { message: 'Hello!' }, 'Hello!');
  await expectAnswer(
    runtime,
    'mcp__filesystem__write_file',
    { path: file, content: 'Dear reader' },
    'letter.txt',
  );
  await expectAnswer(runtime, 'mcp__filesystem__read_text_file', { path: file }, 'Dear reader');
  await expectAnswer(runtime, 'mcp__memory__create_entities', { entities: [ada] }, 'Ada Lovelace');
  await expectAnswer(runtime, 'mcp__memory__search_nodes', { query: 'first program' }, 'Ada Lovelace');
}

/** @param {Runtime} runtime */
export async function surviveCrash(runtime) {
  heading('4. A server dies');
  const { pid } = runtime.serverStatus('everything');
  check(pid !== undefined, 'The status of a running server should tell its process id.');
  /** @type {string[][]} */
  const seen = [];
  const stop = [
    runtime.on('server.state', ({ server, from, to }) =>
      seen.push(['server.state', `${server}: ${from} -> ${to}`]),
    ),
    runtime.on('server.failed', ({ server, error }) =>
      seen.push(['server.failed', `${server}: ${error.code}`]),
    ),
    runtime.on('server.recovered', ({ server }) => seen.push(['server.recovered', server])),
    runtime.on('call.settled', ({ tool, outcome, attempts }) =>
      seen.push(['call.settled', `${tool}: ${outcome}, attempts: ${attempts}`]),
    ),
  ];
  process.kill(pid, 'SIGKILL');
  paragraph(`Process ${pid} of "everything" was killed. The next call:`);
  await untilNoticed(() => seen.length > 0);
  const startedAt = performance.now();
  await expectAnswer(runtime, 'mcp__everything__echo', { message: 'Still there?' }, 'Still there?');
  for (const unsubscribe of stop) unsubscribe();
  const successor = runtime.serverStatus('everything').pid;
  check(
    successor !== undefined && successor !== pid,
    'Another process should have taken the place of the killed one.',
  );
  paragraph(
    `Answered after ${since(startedAt)} by its successor, process ${successor}. What the events said:`,
    green,
  );
  table(seen, (cell, column) => (column === 0 ? yellow(cell) : cell));
  check(
    seen.some(([event]) => event === 'server.state'),
    'The crash should have been told as an event.',
  );
}

/**
 * @param {Runtime} runtime
 * @param {{ servers: Record<string, import('turnbuckle').ServerInput>, names: readonly string[] }} running
 */
export async function failAlone(runtime, { servers, names }) {
  heading('5. A server that does not exist');
  const before = names.map((name) => runtime.serverStatus(name).pid);
  await runtime.setServers({ ...servers, missing: { command: 'no-such-program-anywhere' } });
  await runtime.connectAll();
  printStatus(runtime);
  const { status, error } = runtime.serverStatus('missing');
  check(
    status === 'failed' && error !== undefined,
    `"missing" should have failed with a reason but is ${status}.`,
  );
  paragraph(`${error.code}: ${error.message}`, red);
  check(error.hint !== undefined, 'The failure should come with a hint.');
  paragraph(`Hint: ${error.hint}`, yellow);
  const after = names.map((name) => runtime.serverStatus(name).pid);
  check(String(after) === String(before), 'The other servers should have gone on undisturbed.');
  paragraph('The others went on undisturbed.', green);
}

/**
 * @param {Runtime} runtime
 * @param {string} mark
 */
export async function leaveNothing(runtime, mark) {
  heading('6. The end');
  const pids = runtime.status().flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  const startedAt = performance.now();
  await runtime.close();
  const left = canSeeProcesses ? await markedProcesses(mark) : pids.filter(isRunning);
  check(left.length === 0, `Closing should end every process, but these still run: ${left.join(', ')}.`);
  paragraph(`Closed in ${since(startedAt)}: ${pids.length} servers ended, 0 processes left.`, green);
}

/**
 * @param {unknown} condition
 * @param {string} promise
 * @returns {asserts condition}
 */
function check(condition, promise) {
  if (!condition) throw new CheckFailed(promise);
}

/**
 * Calls a tool, prints call and answer, and checks that the answer contains `expected`.
 * @param {Runtime} runtime
 * @param {string} tool
 * @param {Record<string, unknown>} input
 * @param {string} expected
 */
async function expectAnswer(runtime, tool, input, expected) {
  const result = await runtime.call({ tool, arguments: input });
  const text = result.content
    .map((block) => (block.type === 'text' ? block.text : `(${block.type})`))
    .join(' ');
  table([[tool, text.replaceAll(/[\s{}[\]"]+/g, ' ')]], (cell, column) => (column === 0 ? bold(cell) : cell));
  check(
    result.isError !== true && text.includes(expected),
    `${tool} should have answered "${expected}" but said: ${text}`,
  );
}

/** @param {Runtime} runtime */
function printStatus(runtime) {
  const rows = runtime
    .status()
    .map((server) => [
      server.name,
      server.status,
      server.transport ?? '-',
      server.protocolVersion ?? '-',
      String(server.tools.length),
      String(server.pid ?? '-'),
    ]);
  table([['SERVER', 'STATUS', 'TRANSPORT', 'PROTOCOL', 'TOOLS', 'PROCESS'], ...rows], (cell, column, row) => {
    if (row === 0) return dim(cell);
    if (column !== 1) return cell;
    return cell.trim() === 'connected' ? green(cell) : red(cell);
  });
}

/** @param {() => boolean} noticed */
async function untilNoticed(noticed) {
  for (let waited = 0; waited < 2000 && !noticed(); waited += 10) await delay(10);
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** @param {number} startedAt */
function since(startedAt) {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}
