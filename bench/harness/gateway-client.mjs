// A bare client at a gateway, and what it measures there.
import { setTimeout as sleep } from 'node:timers/promises';
import { toolCount } from '../gateways.mjs';
import { BareClient } from './bare-client.mjs';
import { BareSseClient } from './bare-sse-client.mjs';
import { median } from './statistics.mjs';

const readyMs = 60_000;
const blockMs = 60_000;
const retryMs = 5;
const text = 'hello';

/**
 * @template T
 * @param {Promise<T>} work
 * @param {number} timeoutMs
 * @returns {Promise<T>}
 */
async function within(work, timeoutMs) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1_000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A client of a gateway that lists all tools. */
export class GatewayClient {
  #client;
  /** The echo tools of all servers. @type {readonly string[]} */
  #echoes;

  /** @param {BareClient | BareSseClient} client @param {readonly string[]} names */
  constructor(client, names) {
    this.#client = client;
    this.#echoes = names.filter((name) => /(^|\W|_)echo$/.test(name));
  }

  /**
   * Resolves when all tools are listed; rejects with the reason if that takes too long.
   * @param {import('./gateway-process.mjs').Running} running
   */
  static async open(running) {
    const until = performance.now() + readyMs;
    let reason = '';
    while (performance.now() < until && running.hasEnded() === undefined) {
      const client = running.transport === 'sse' ? new BareSseClient(running) : new BareClient(running);
      try {
        return await within(GatewayClient.#list(client), until - performance.now());
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
        client.close();
      }
      await sleep(retryMs);
    }
    throw new Error(running.hasEnded() ?? `not ready within ${readyMs / 1_000} s: ${reason}`);
  }

  /** @param {BareClient | BareSseClient} client */
  static async #list(client) {
    await client.initialize();
    for (;;) {
      const { tools } = await client.request('tools/list', {});
      if (tools.length >= toolCount)
        return new GatewayClient(
          client,
          tools.map(({ name }) => name),
        );
      await sleep(retryMs);
    }
  }

  /** Calls the echo of the server with this number; they take turns. */
  async call(index = 0) {
    const name = this.#echoes[index % this.#echoes.length];
    const { content } = await this.#client.request('tools/call', { name, arguments: { text } });
    if (content[0]?.text !== text) throw new Error(`the echo came back as ${JSON.stringify(content)}`);
  }

  list() {
    return this.#client.request('tools/list', {});
  }

  /** The median of calls, one after the other, in µs. @param {number} count */
  callP50(count) {
    return within(
      medianOf(() => this.call(), count),
      blockMs,
    );
  }

  /** The median of lists, one after the other, in µs. @param {number} count */
  listP50(count) {
    return within(
      medianOf(() => this.list(), count),
      blockMs,
    );
  }

  /** Calls a second to all servers in turn. @param {{ count: number, inFlight: number }} options */
  async throughput({ count, inFlight }) {
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < count; index = next++) await this.call(index);
    };
    const began = performance.now();
    await within(Promise.all(Array.from({ length: inFlight }, worker)), blockMs);
    return (count * 1_000) / (performance.now() - began);
  }

  close() {
    this.#client.close();
  }
}

/** @param {() => Promise<unknown>} work @param {number} times */
async function medianOf(work, times) {
  const samples = [];
  for (let index = 0; index < times; index++) {
    const began = performance.now();
    await work();
    samples.push((performance.now() - began) * 1_000);
  }
  return median(samples);
}
