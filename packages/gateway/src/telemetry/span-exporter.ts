/** A bounded queue of ended spans, sent in batches. A collector that is slow or absent costs spans, never calls. */
import { monotonicNow, timerDelay } from 'turnbuckle/host';
import type { OtlpSender } from './otlp-sender.js';
import { type EndedSpan, writeSpan } from './write-span.js';

export interface BatchLimits {
  readonly delayMs: number;
  readonly maxQueue: number;
  readonly maxBatch: number;
}

export interface SpanExporterOptions {
  readonly sender: OtlpSender;
  readonly limits: BatchLimits;
  /** The resource and the scope of the spans, as JSON. */
  readonly resource: string;
  readonly scope: string;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #queue: EndedSpan[] = [];
  readonly #timer: NodeJS.Timeout;
  #dropped = 0;
  #pauseMs = 0;
  #pausedUntil = 0;
  #sending: Promise<void> | undefined;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#send(), timerDelay(options.limits.delayMs)).unref();
  }

  /** Spans that no collector took. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: EndedSpan): void {
    const { maxQueue, maxBatch } = this.#options.limits;
    if (this.#queue.length >= maxQueue) this.#dropped += 1;
    else this.#queue.push(span);
    if (this.#queue.length >= maxBatch) void this.#send();
  }

  /** Sends the rest, until the collector fails. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    while (this.#queue.length > 0 && (await this.#sendBatch()));
    this.#dropped += this.#queue.splice(0).length;
  }

  #send(): Promise<void> | undefined {
    if (this.#queue.length === 0 || monotonicNow() < this.#pausedUntil) return undefined;
    this.#sending ??= this.#sendFullBatches().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** One batch, and more while they are full. */
  async #sendFullBatches(): Promise<void> {
    while ((await this.#sendBatch()) && this.#queue.length >= this.#options.limits.maxBatch);
  }

  async #sendBatch(): Promise<boolean> {
    const { sender, resource, scope, limits } = this.#options;
    const batch = this.#queue.splice(0, limits.maxBatch);
    const scopeSpans = `[{"scope":${scope},"spans":[${batch.map(writeSpan).join(',')}]}]`;
    const error = await sender.send(
      `{"resourceSpans":[{"resource":${resource},"scopeSpans":${scopeSpans}}]}`,
    );
    this.#pauseMs =
      error === undefined ? 0 : Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS);
    this.#pausedUntil = monotonicNow() + this.#pauseMs;
    if (error === undefined) return true;
    // The oldest ones are sent first again; what no longer fits is lost.
    const kept = error.isTemporary ? batch.slice(0, Math.max(limits.maxQueue - this.#queue.length, 0)) : [];
    this.#queue.unshift(...kept);
    this.#dropped += batch.length - kept.length;
    return false;
  }
}
