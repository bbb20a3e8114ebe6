// Small calls over one transport: every subject has its own process and server, all are warmed up, and they run in
// short interleaved blocks.
import { startHttpServer, stdioServer } from '../harness/bare-server.mjs';
import { calm } from '../harness/calm.mjs';
import { openClient } from '../harness/client-process.mjs';
import { toRoundOrder } from '../harness/rounds.mjs';
import { median } from '../harness/statistics.mjs';

const server = 'bench';
const warmUpPasses = 4;
// Blocks are short and the clients stay open, so more rounds cost little and make the medians more stable.
const blocksPerRound = 2;

const small = { server, bytes: 16 };
// A call over HTTP takes several times as long, so its blocks are smaller.
const blocks = {
  stdio: {
    sequence: { ...small, count: 200, unmeasured: 30 },
    flight: { ...small, inFlight: 64, count: 3200, unmeasured: 256 },
  },
  http: {
    sequence: { ...small, count: 100, unmeasured: 15 },
    flight: { ...small, inFlight: 64, count: 512, unmeasured: 128 },
  },
};

/** @typedef {{ subject: import('../subjects.mjs').Subject, client: import('../harness/client-process.mjs').ClientProcess, stopServer: () => void }} Entrant */

/**
 * @param {'stdio' | 'http'} transport
 * @param {import('../subjects.mjs').Subject} subject
 * @returns {Promise<Entrant>}
 */
async function enter(transport, subject) {
  const options = { era: subject.era };
  const { spec, stop } =
    transport === 'http'
      ? await startHttpServer(server, options)
      : { spec: stdioServer(server, options), stop: () => {} };
  try {
    const { client } = await openClient(subject, [spec]);
    return { subject, client, stopServer: stop };
  } catch (error) {
    stop();
    throw error;
  }
}

/** @param {'stdio' | 'http'} transport */
function createKinds(transport) {
  const { sequence, flight } = blocks[transport];
  return {
    sequential: async (client) => median((await client.run('sequence', sequence)).samples),
    'in-flight': async (client) => (await client.run('flight', flight)).perSecond,
  };
}

/** Warms up in turns: V8 drops the optimised code of a process that is idle while the others warm up. */
async function warmUp(transport, entrants) {
  const { sequence, flight } = blocks[transport];
  for (let pass = 0; pass < warmUpPasses; pass++) {
    for (const { client } of entrants) {
      await client.run('sequence', { ...sequence, count: sequence.count * 3 });
      await client.run('flight', flight);
    }
  }
}

/** @param {import('../harness/rounds.mjs').RunContext} context */
async function runBlocks(context, { figure, measure, entrants }) {
  const { measurements } = context;
  for (let round = 0; round < context.rounds * blocksPerRound; round++) {
    for (const { id } of toRoundOrder(entrants.map(({ subject }) => subject))) {
      if (measurements.reasonOf(figure, id) !== undefined) continue;
      const { client } = entrants.find(({ subject }) => subject.id === id);
      await calm();
      try {
        measurements.record({ figure, subject: id, round, value: await measure(client) });
      } catch (error) {
        measurements.fail({ figure, subject: id, error });
      }
    }
  }
}

/**
 * Measures calls over a transport.
 * @param {'stdio' | 'http'} transport
 * @param {import('../harness/rounds.mjs').RunContext} context
 */
export async function runCalls(transport, context) {
  const wanted = Object.entries(createKinds(transport))
    .map(([kind, measure]) => ({ figure: `${transport}-${kind}`, measure }))
    .filter(({ figure }) => context.wants(figure));
  if (wanted.length === 0) return;
  /** @type {Entrant[]} */
  const entrants = [];
  try {
    for (const subject of context.subjects) {
      try {
        entrants.push(await enter(transport, subject));
      } catch (error) {
        for (const { figure } of wanted) context.measurements.fail({ figure, subject: subject.id, error });
      }
    }
    await warmUp(transport, entrants);
    for (const { figure, measure } of wanted) {
      context.note(figure);
      await runBlocks(context, { figure, measure, entrants });
    }
  } finally {
    await Promise.all(entrants.map(({ client }) => client.stop()));
    for (const { stopServer } of entrants) stopServer();
  }
}
