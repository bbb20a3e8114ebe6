/** Telemetry that a test sends to a collector of its own. */
import { type CollectedSpan, OtlpCollector } from '@turnbuckle/testing';
import { onTestFinished } from 'vitest';
import { openTelemetry, type Telemetry } from '../../src/telemetry/telemetry.js';

export const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
export const PARENT_TRACE = PARENT.slice(3, 35);
export const PARENT_SPAN = PARENT.slice(36, 52);

export const SERVER = 2;
export const CLIENT = 3;

export interface Collected {
  readonly collector: OtlpCollector;
  readonly telemetry: Telemetry;
  readonly warnings: string[];
  /** Sends what is left, and returns all spans of calls: without those of connecting and listing. */
  finish(): Promise<CollectedSpan[]>;
}

export async function collect(environment: Record<string, string> = {}): Promise<Collected> {
  const collector = await OtlpCollector.start();
  onTestFinished(() => collector.stop());
  const warnings: string[] = [];
  const telemetry = openTelemetry({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment },
    traces: undefined,
    version: '1.2.3',
    onWarning: (message) => warnings.push(message),
  });
  if (telemetry === undefined) throw new Error('No telemetry');
  return {
    collector,
    telemetry,
    warnings,
    finish: async () => {
      await telemetry.close();
      if (collector.faults.length > 0) throw new Error(collector.faults.join('\n'));
      return callSpans(collector.spans);
    },
  };
}

export const callSpans = (spans: readonly CollectedSpan[]): CollectedSpan[] =>
  spans.filter(
    ({ name }) => !/^(?:initialize|server\/discover|tools\/list|ping|subscriptions\/listen)$/.test(name),
  );

/** The spans of this kind, in the order of their start. */
export const ofKind = (spans: readonly CollectedSpan[], kind: number): CollectedSpan[] =>
  spans
    .filter((span) => span.kind === kind)
    .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));

/** The `_meta` that the tool `meta` of a fixture got. */
export function receivedMeta(result: unknown): Record<string, unknown> {
  const { content } = result as { content: [{ text: string }] };
  return JSON.parse(content[0].text);
}
