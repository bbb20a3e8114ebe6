/**
 * Runs every operation that touches a user-supplied path, on a drive that does not respond. Prints the outcome of each,
 * and for how long the event loop was blocked.
 */
import { createConfiguredRuntime, createRuntime } from 'turnbuckle';
import { editServers, loadConfiguration } from 'turnbuckle/host';

const [drive, home] = process.argv.slice(2);
let [longestMs, last] = [0, performance.now()];
setInterval(() => {
  const now = performance.now();
  longestMs = Math.max(longestMs, now - last);
  last = now;
}, 5);

const environment = { PATH: process.env.PATH, HOME: home };
const start = async (entry) => {
  const runtime = await createRuntime({ servers: { a: { connectTimeoutMs: 20_000, ...entry } } });
  await runtime.connect('a');
};
const settle = (work) =>
  work.then(
    () => 'done',
    ({ code, message }) => `${code} ${message}`,
  );
const WAYS = {
  cwd: () => start({ command: process.execPath, cwd: `${drive}/project` }),
  command: () => start({ command: `${drive}/bin/server` }),
  path: () => start({ command: 'server-that-is-nowhere', env: { PATH: `/usr/bin:${drive}/bin` } }),
  load: async () => {
    const { problems } = await loadConfiguration({ cwd: `${drive}/project`, environment });
    if (problems.length > 0) throw problems[0];
  },
  follow: async () => {
    const { runtime, follow } = await createConfiguredRuntime({
      cwd: home,
      environment,
      files: [`${drive}/mcp.json`],
    });
    await follow(() => {});
    const [problem] = runtime.status();
    if (problem !== undefined) throw problem;
  },
  edit: () => editServers(`${drive}/mcp.json`, [{ action: 'add', name: 'a', config: { command: 'a' } }]),
};
const entries = Object.entries(WAYS).map(async ([name, way]) => [name, await settle(way())]);
const outcomes = Object.fromEntries(await Promise.all(entries));
process.stdout.write(`${JSON.stringify({ outcomes, longestMs })}\n`, () => {
  // A normal exit would wait for the threads that wait for the drive.
  process.kill(process.pid, 'SIGKILL');
});
