// Calls through a gateway: ten stdio servers with ten tools each and a bare client, compared with the same client
// directly at a bare HTTP server. Our daemon has everything enabled (log, metrics, rules).
import { join } from 'node:path';
import { direct, floor, startOurs } from '../gateways.mjs';
import { BareClient } from '../harness/bare-client.mjs';
import { calm } from '../harness/calm.mjs';
import { GatewayClient } from '../harness/gateway-client.mjs';
import { sampleFresh, toRoundOrder } from '../harness/rounds.mjs';
import { median, shuffle } from '../harness/statistics.mjs';
import { ours } from '../subjects.mjs';

const calls = 150;
const flight = { inFlight: 64, count: 1_280 };
const lists = 30;
const warmUpPasses = 3;
const peerRounds = 5;
const readyRounds = 7;
const logRuns = 5;
const sessionsBefore = 50;
const sessions = 100;

/** @typedef {import('../harness/rounds.mjs').RunContext} RunContext */
/** @typedef {import('../gateways.mjs').Gateway} Gateway */
/** @typedef {{ gateway: Gateway, running: import('../harness/gateway-process.mjs').Running, client: GatewayClient }} Entrant */

/** @type {Record<string, (client: GatewayClient) => Promise<number>>} */
const measures = {
  'gateway-call': (client) => client.callP50(calls),
  'gateway-in-flight': (client) => client.throughput(flight),
  'gateway-list': (client) => client.listP50(lists),
};

const steady = [...Object.keys(measures), 'gateway-memory'];

let homes = 0;

/** A directory that does not exist yet. @param {RunContext} context */
const nextHome = ({ scratchDirectory }) => {
  homes += 1;
  return join(scratchDirectory, `gateway-${homes}`);
};

/**
 * @template T
 * @param {Promise<import('../harness/gateway-process.mjs').Running>} starting
 * @param {(client: GatewayClient, running: import('../harness/gateway-process.mjs').Running) => T | Promise<T>} work
 */
async function withGateway(starting, work) {
  const running = await starting;
  try {
    const client = await GatewayClient.open(running);
    try {
      return await work(client, running);
    } finally {
      client.close();
    }
  } finally {
    await running.stop();
  }
}

/** The gateways that get ready; the other peers are reported as missing. @param {RunContext} context */
async function takeReady(context) {
  const ready = [];
  for (const gateway of context.gateways) {
    if (gateway.peer === undefined) {
      ready.push(gateway);
      continue;
    }
    try {
      await withGateway(gateway.start(nextHome(context)), (client) => client.call());
      ready.push(gateway);
    } catch (error) {
      context.reportMissing(gateway, error instanceof Error ? error.message : String(error));
    }
  }
  return ready;
}

/** @param {RunContext} context @param {Gateway} gateway @returns {Promise<Entrant>} */
async function enter(context, gateway) {
  const running = await gateway.start(nextHome(context));
  try {
    return { gateway, running, client: await GatewayClient.open(running) };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/** @param {RunContext} context @param {readonly Entrant[]} entrants */
async function warmUp({ measurements }, entrants) {
  for (let pass = 0; pass < warmUpPasses; pass++)
    for (const { gateway, client } of entrants)
      for (const [figure, measure] of Object.entries(measures)) {
        if (measurements.reasonOf(figure, gateway.id) !== undefined) continue;
        await measure(client).catch((error) => measurements.fail({ figure, subject: gateway.id, error }));
      }
}

/** @param {RunContext} context @param {readonly Entrant[]} entrants */
async function runRounds({ measurements, rounds, wants }, entrants) {
  const byId = new Map(entrants.map((entrant) => [entrant.gateway.id, entrant]));
  for (let round = 0; round < rounds * 2; round++)
    for (const [figure, measure] of Object.entries(measures)) {
      if (!wants(figure)) continue;
      await calm();
      const taking = entrants.map(({ gateway }) => gateway);
      for (const { id, peer } of toRoundOrder(taking, direct.id)) {
        if (peer !== undefined && round >= peerRounds) continue;
        if (measurements.reasonOf(figure, id) !== undefined) continue;
        const { client } = byId.get(id);
        try {
          measurements.record({ figure, subject: id, round, value: await measure(client) });
        } catch (error) {
          measurements.fail({ figure, subject: id, error });
        }
      }
    }
}

/** All gateways run at the same time, and are measured in turns. @param {RunContext} context */
async function runSteady(context) {
  const { measurements } = context;
  /** @type {Entrant[]} */
  const entrants = [];
  try {
    for (const gateway of context.gateways) {
      try {
        entrants.push(await enter(context, gateway));
      } catch (error) {
        for (const figure of steady) measurements.fail({ figure, subject: gateway.id, error });
      }
    }
    for (const { gateway, running } of entrants) {
      const value = running.memory() / 1_048_576;
      measurements.record({ figure: 'gateway-memory', subject: gateway.id, round: 0, value });
    }
    await warmUp(context, entrants);
    await runRounds(context, entrants);
  } finally {
    for (const { client } of entrants) client.close();
    await Promise.all(entrants.map(({ running }) => running.stop()));
  }
}

/** From the start of a gateway until all tools are listed. @param {RunContext} context */
function runReady(context) {
  const timeReady = async (gateway) => {
    await calm();
    const began = performance.now();
    return withGateway(gateway.start(nextHome(context)), () => performance.now() - began);
  };
  const rounds = Math.min(context.rounds, readyRounds);
  const starting = { ...context, rounds, subjects: context.gateways, beside: floor.id };
  return sampleFresh(starting, 'gateway-ready', timeReady);
}

/** One daemon with the log and one without call in turns, so that other work on the machine affects both. */
async function compareLog(context) {
  const rounds = Math.ceil((context.rounds * 2) / logRuns);
  const inTurns = async (clients) => {
    const samples = clients.map(() => []);
    for (let index = 0; index < calls; index++)
      for (const turn of shuffle([...clients.keys()])) {
        const began = performance.now();
        await clients[turn].call();
        samples[turn].push(performance.now() - began);
      }
    return samples.map(median);
  };
  return withGateway(startOurs(nextHome(context)), (logged) =>
    withGateway(startOurs(nextHome(context), { log: { enabled: false } }), async (silent) => {
      for (let pass = 0; pass < warmUpPasses; pass++)
        for (const client of [logged, silent]) await client.callP50(calls * 2);
      const ratios = [];
      for (let round = 0; round < rounds; round++) {
        await calm();
        const [withLog, without] = await inTurns([logged, silent]);
        ratios.push(withLog / without);
      }
      return median(ratios);
    }),
  );
}

/** Each value comes from its own pair of daemons: one noisy moment does not decide. @param {RunContext} context */
async function runLog(context) {
  for (let run = 0; run < logRuns; run++)
    context.measurements.record({
      figure: 'gateway-log',
      subject: ours.id,
      round: run,
      value: await compareLog(context),
    });
}

/** The memory of a legacy session in KB, from the memory of the process after many. @param {RunContext} context */
async function runSessions(context) {
  const value = await withGateway(startOurs(nextHome(context)), async (client, running) => {
    const open = async (count) => {
      for (let index = 0; index < count; index++) await new BareClient(running).initialize();
    };
    await client.callP50(calls);
    await open(sessionsBefore);
    const before = running.memory();
    await open(sessions);
    return (running.memory() - before) / sessions / 1_024;
  });
  context.measurements.record({ figure: 'gateway-session', subject: ours.id, round: 0, value });
}

/** @param {RunContext} context */
export async function runGateway(context) {
  const isCompared = [...steady, 'gateway-ready'].some(context.wants);
  const gateways = isCompared ? await takeReady(context) : [];
  for (const [figures, run] of [
    [steady, runSteady],
    [['gateway-ready'], runReady],
    [['gateway-log'], runLog],
    [['gateway-session'], runSessions],
  ]) {
    if (!figures.some(context.wants)) continue;
    context.note(figures[0]);
    try {
      await run({ ...context, gateways });
    } catch (error) {
      for (const figure of figures) context.measurements.fail({ figure, subject: ours.id, error });
    }
  }
}
