// One client in its own process, controlled over IPC. Times are measured here, so that they include neither the
// runner nor the IPC channel.
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const { client, peerRoot, settings } = JSON.parse(process.argv[2] ?? '{}');

/** @param {string} specifier */
const importPeer = (specifier) =>
  import(import.meta.resolve(specifier, pathToFileURL(`${peerRoot}/package.json`).href));

/** @type {import('../subjects.mjs').OpenSession} */
let open;
/** @type {import('../subjects.mjs').Session} */
let session;

/** @param {string} server @param {number} bytes */
async function callEcho(server, bytes) {
  const text = 'x'.repeat(bytes);
  const echoed = await session.call(server, 'echo', { text });
  if (echoed !== text) throw new Error(`the echo came back as ${String(echoed).slice(0, 80)}`);
}

const commands = {
  async load() {
    const { load } = await import(`../clients/${client}.mjs`);
    open = await load({ importPeer, settings });
  },

  /** Connects to all servers and lists their tools. */
  async open({ servers }) {
    const start = performance.now();
    session = await open(servers);
    const elapsedMs = performance.now() - start;
    return { elapsedMs, toolCount: session.toolCount };
  },

  /** Makes one call after the other; returns the microseconds of each. */
  async sequence({ server, count, bytes, unmeasured }) {
    for (let index = 0; index < unmeasured; index++) await callEcho(server, bytes);
    const samples = new Array(count);
    for (let index = 0; index < count; index++) {
      const start = performance.now();
      await callEcho(server, bytes);
      samples[index] = (performance.now() - start) * 1000;
    }
    return { samples };
  },

  /** Keeps a number of calls in flight; returns how many ended per second. */
  async flight({ server, count, bytes, inFlight, unmeasured }) {
    const run = async (total) => {
      let left = total;
      const lanes = Array.from({ length: inFlight }, async () => {
        while (left-- > 0) await callEcho(server, bytes);
      });
      await Promise.all(lanes);
    };
    await run(unmeasured);
    const start = performance.now();
    await run(count);
    return { perSecond: (count * 1000) / (performance.now() - start) };
  },

  /** Bytes in use after a full garbage collection, including buffers. */
  async memory() {
    for (let pass = 0; pass < 3; pass++) {
      globalThis.gc?.();
      await sleep(20);
    }
    const { heapUsed, external } = process.memoryUsage();
    return { bytes: heapUsed + external };
  },

  async close() {
    await session?.close();
  },
};

process.on('message', async ({ id, command, input }) => {
  try {
    process.send({ id, value: (await commands[command](input)) ?? null });
  } catch (error) {
    process.send({ id, error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  }
});
process.once('disconnect', () => process.exit(0));
