import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { findToxic, type Toxic } from './toxic.js';

const MAX_QUEUED_BYTES = 1024 * 1024;

export interface ToxicPipeOptions {
  readonly source: Socket;
  readonly sink: Socket;
  /** The toxics of this direction, read again for every chunk. */
  readonly toxics: () => readonly Toxic[];
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Resets both ends. */
  readonly reset: () => void;
}

/** One direction of a proxied connection. */
export class ToxicPipe {
  readonly #options: ToxicPipeOptions;
  readonly #queue: { bytes: Buffer; at: number }[] = [];
  // By toxic, so that a newly set limit starts to count from zero.
  readonly #passed = new WeakMap<Toxic, number>();
  #queuedBytes = 0;
  #ended = false;
  #pumping = false;

  constructor(options: ToxicPipeOptions) {
    this.#options = options;
    options.source.on('data', (bytes: Buffer) => {
      this.#queue.push({ bytes, at: performance.now() });
      this.#queuedBytes += bytes.length;
      if (this.#queuedBytes > MAX_QUEUED_BYTES) options.source.pause();
      void this.#pump();
    });
    options.source.on('end', () => {
      this.#ended = true;
      void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      await this.#carry(next.bytes, next.at);
      this.#queuedBytes -= next.bytes.length;
      if (this.#queuedBytes <= MAX_QUEUED_BYTES) this.#options.source.resume();
    }
    this.#pumping = false;
    if (!this.#ended || findToxic(this.#options.toxics(), 'timeout')) return;
    const slowClose = findToxic(this.#options.toxics(), 'slow-close');
    if (slowClose) await delay(slowClose.delayMs);
    this.#options.sink.end();
  }

  async #carry(bytes: Buffer, arrivedAt: number): Promise<void> {
    const { toxics, random, reset } = this.#options;
    const resetPeer = findToxic(toxics(), 'reset-peer');
    if (resetPeer && resetPeer.afterMs === undefined) return reset();
    const latency = findToxic(toxics(), 'latency');
    if (latency) {
      const lag = latency.latencyMs + (latency.jitterMs ?? 0) * (2 * random() - 1);
      await delay(Math.max(0, arrivedAt + lag - performance.now()));
    }
    for (let offset = 0; offset < bytes.length; ) {
      if (findToxic(toxics(), 'timeout')) return;
      const slice = bytes.subarray(offset, offset + this.#sliceLength());
      offset += slice.length;
      if (!(await this.#pass(slice))) return;
    }
  }

  #sliceLength(): number {
    const slicer = findToxic(this.#options.toxics(), 'slicer');
    const bandwidth = findToxic(this.#options.toxics(), 'bandwidth');
    const sliced = slicer
      ? slicer.sliceBytes + Math.round((slicer.variation ?? 0) * (2 * this.#options.random() - 1))
      : Number.POSITIVE_INFINITY;
    // At most a tenth of a second's bytes at a time: a low bandwidth is then a trickle, not one late burst.
    const metered = bandwidth ? Math.ceil(bandwidth.bytesPerSecond / 10) : Number.POSITIVE_INFINITY;
    return Math.max(1, Math.min(sliced, metered));
  }

  /** Writes one slice; false if the connection has ended. */
  async #pass(slice: Buffer): Promise<boolean> {
    const { source, sink, toxics } = this.#options;
    const bandwidth = findToxic(toxics(), 'bandwidth');
    if (bandwidth) await delay((slice.length / bandwidth.bytesPerSecond) * 1000);
    const limit = findToxic(toxics(), 'limit-data');
    const passed = limit ? (this.#passed.get(limit) ?? 0) : 0;
    const allowed = limit ? Math.max(0, limit.bytes - passed) : slice.length;
    if (sink.destroyed) return false;
    sink.write(slice.subarray(0, allowed));
    if (limit) this.#passed.set(limit, passed + slice.length);
    if (limit && passed + slice.length >= limit.bytes) {
      sink.end();
      source.destroy();
      return false;
    }
    const slicer = findToxic(toxics(), 'slicer');
    if (slicer?.delayMs) await delay(slicer.delayMs);
    return true;
  }
}
