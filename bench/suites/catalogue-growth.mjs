// The cost of a call with a large catalog, and the memory per tool. Both compare our library with itself: a process
// with few tools and one with many.
import { stdioServer } from '../harness/bare-server.mjs';
import { calm } from '../harness/calm.mjs';
import { openClient } from '../harness/client-process.mjs';
import { median, shuffle } from '../harness/statistics.mjs';
import { createCatalogue } from '../servers/catalogue.mjs';
import { ours } from '../subjects.mjs';

// Five servers on both sides, since the library accepts at most a thousand tools from each.
const serverCount = 5;
const few = 10;
const many = 5000;
const alternations = 8;
const block = { server: 'server0', bytes: 16, count: 150, unmeasured: 20 };

const ownJsonBytes = () => {
  const tools = createCatalogue({ count: many / serverCount, outputSchemas: false });
  return Buffer.byteLength(JSON.stringify(tools)) / tools.length;
};

/**
 * @typedef {import('../harness/client-process.mjs').ClientProcess} ClientProcess
 * @typedef {{ small: ClientProcess, large: ClientProcess }} Pair
 */

/**
 * @param {import('../subjects.mjs').Subject} subject
 * @param {number} total
 */
async function openWithTools(subject, total) {
  const tools = total / serverCount;
  const servers = Array.from({ length: serverCount }, (_, index) => stdioServer(`server${index}`, { tools }));
  const { client, toolCount } = await openClient(subject, servers);
  if (toolCount === total) return client;
  await client.stop();
  throw new Error(`${subject.label} lists ${toolCount} of ${total} tools`);
}

/**
 * Runs a measurement on two fresh clients, one with few tools and one with many.
 * @template T
 * @param {import('../subjects.mjs').Subject} subject
 * @param {(clients: Pair) => Promise<T>} measure
 */
async function withPair(subject, measure) {
  const small = await openWithTools(subject, few);
  try {
    const large = await openWithTools(subject, many);
    try {
      return await measure({ small, large });
    } finally {
      await large.stop();
    }
  } finally {
    await small.stop();
  }
}

/** @param {Pair} pair */
async function timeGrowth(pair) {
  for (let pass = 0; pass < 3; pass++) {
    for (const client of [pair.small, pair.large]) await client.run('sequence', { ...block, count: 800 });
  }
  /** @type {Record<'small' | 'large', number[]>} */
  const medians = { small: [], large: [] };
  for (let turn = 0; turn < alternations; turn++) {
    for (const size of shuffle(/** @type {const} */ (['small', 'large']))) {
      await calm();
      medians[size].push(median((await pair[size].run('sequence', block)).samples));
    }
  }
  return median(medians.large) / median(medians.small);
}

/** @param {Pair} pair */
async function weighTools({ small, large }) {
  const before = await small.run('memory');
  const after = await large.run('memory');
  return ((after.bytes - before.bytes) / (many - few) - ownJsonBytes()) / 1024;
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
export async function runCatalogueGrowth(context) {
  const subject = context.subjects.find(({ id }) => id === ours.id);
  if (subject === undefined) return;
  const measures = { 'heap-per-tool': weighTools, 'catalogue-growth': timeGrowth };
  for (const [figure, measure] of Object.entries(measures)) {
    if (!context.wants(figure)) continue;
    context.note(figure);
    for (let round = 0; round < context.rounds; round++) {
      try {
        const value = await withPair(subject, measure);
        context.measurements.record({ figure, subject: ours.id, round, value });
      } catch (error) {
        context.measurements.fail({ figure, subject: ours.id, error });
        break;
      }
    }
  }
}
