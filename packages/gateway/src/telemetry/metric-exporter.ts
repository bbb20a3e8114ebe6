/** Sends the histograms to a collector at intervals. Values are cumulative: a lost message costs no data. */
import { inSlices, timerDelay } from 'turnbuckle/host';
import type { DurationHistogram } from './duration-histogram.js';
import type { OtlpSender } from './otlp-sender.js';

export interface MetricExporterOptions {
  readonly sender: OtlpSender;
  readonly histograms: readonly DurationHistogram[];
  readonly intervalMs: number;
  /** The resource and the scope of the metrics, as JSON. */
  readonly resource: string;
  readonly scope: string;
  readonly now: () => number;
}

export class MetricExporter {
  readonly #options: MetricExporterOptions;
  readonly #timer: NodeJS.Timeout;
  #sending: Promise<unknown> | undefined;

  constructor(options: MetricExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#sendUnlessSending(), timerDelay(options.intervalMs)).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.#send();
  }

  #sendUnlessSending(): void {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async #send(): Promise<void> {
    const { histograms, now, resource, scope, sender } = this.#options;
    const at = now();
    const written = await Promise.all(histograms.map((histogram) => inSlices(histogram.write(at))));
    const metrics = written.filter((metric) => metric !== undefined);
    if (metrics.length === 0) return;
    const scopeMetrics = `[{"scope":${scope},"metrics":[${metrics.join(',')}]}]`;
    await sender.send(`{"resourceMetrics":[{"resource":${resource},"scopeMetrics":${scopeMetrics}}]}`);
  }
}
