/** An OpenTelemetry collector for tests: OTLP over HTTP, JSON. It takes only messages that have exactly its form. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';

const time = z.string().regex(/^\d{16,20}$/);
const count = z.string().regex(/^\d+$/);
const hex = (characters: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${characters}}$`));
const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
]);
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value }))
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'a key occurs twice')
  .transform((all) => Object.fromEntries(all.map(({ key, value: of }) => [key, Object.values(of)[0]])));
const resource = z.strictObject({ attributes });
const scope = z.strictObject({ name: z.string(), version: z.string() });

const span = z
  .strictObject({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16).optional(),
    traceState: z.string().optional(),
    name: z.string().min(1),
    kind: z.number().int().min(1).max(5),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes,
    links: z.array(z.strictObject({ traceId: hex(32), spanId: hex(16) })).optional(),
    status: z
      .strictObject({ code: z.number().int().min(0).max(2), message: z.string().optional() })
      .optional(),
  })
  .refine((one) => BigInt(one.endTimeUnixNano) >= BigInt(one.startTimeUnixNano), 'it ends before it starts');

const histogram = z.strictObject({
  aggregationTemporality: z.literal(2),
  dataPoints: z.array(
    z
      .strictObject({
        attributes,
        startTimeUnixNano: time,
        timeUnixNano: time,
        count,
        sum: z.number(),
        bucketCounts: z.array(count),
        explicitBounds: z.array(z.number()),
      })
      .refine((point) => point.bucketCounts.length === point.explicitBounds.length + 1, 'wrong buckets')
      .refine(
        (point) => point.bucketCounts.reduce((sum, one) => sum + Number(one), 0) === Number(point.count),
        'the buckets do not add up',
      ),
  ),
});
const metric = z.strictObject({ name: z.string(), description: z.string(), unit: z.string(), histogram });

const MESSAGES = {
  '/v1/traces': z.strictObject({
    resourceSpans: z.array(
      z.strictObject({ resource, scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span) })) }),
    ),
  }),
  '/v1/metrics': z.strictObject({
    resourceMetrics: z.array(
      z.strictObject({
        resource,
        scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })),
      }),
    ),
  }),
};

export type CollectedSpan = z.output<typeof span>;
export type CollectedMetric = z.output<typeof metric>;

/** How it answers: with a status, never, with a redirect, or with a body without an end. */
export type CollectorAnswer = number | 'silent' | 'redirect' | 'endless' | 'upgrade' | 'hang-up';

export class OtlpCollector {
  readonly spans: CollectedSpan[] = [];
  /** By name: the last one that came. */
  readonly metrics = new Map<string, CollectedMetric>();
  readonly resources: Array<Record<string, unknown>> = [];
  readonly requests: Array<Pick<IncomingMessage, 'url' | 'headers'>> = [];
  /** What was wrong with messages that it did not take. */
  readonly faults: string[] = [];
  answer: CollectorAnswer = 200;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  /** Without the path of a signal. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    this.requests.push({ url: request.url, headers: request.headers });
    if (this.answer === 'silent') return;
    if (this.answer === 'hang-up') return void response.destroy();
    if (this.answer === 'upgrade')
      return void response.socket?.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      );
    if (this.answer === 'redirect')
      return void response.writeHead(307, { location: `${this.url}/elsewhere` }).end();
    if (this.answer === 'endless') return writeForever(response);
    if (this.answer === 200) this.#take(request, Buffer.concat(parts).toString('utf8'));
    response.writeHead(this.answer, { 'content-type': 'application/json' }).end('{}');
  }

  #take({ url, method, headers }: IncomingMessage, text: string): void {
    if (method !== 'POST' || headers['content-type'] !== 'application/json')
      this.faults.push(`${method} with the type ${headers['content-type']}`);
    const path = new URL(url ?? '', this.url).pathname;
    if (path.endsWith('/v1/traces')) this.#takeSpans(MESSAGES['/v1/traces'].safeParse(JSON.parse(text)));
    else if (path.endsWith('/v1/metrics'))
      this.#takeMetrics(MESSAGES['/v1/metrics'].safeParse(JSON.parse(text)));
    else this.faults.push(`an unknown path: ${path}`);
  }

  #takeSpans({ data, error }: z.ZodSafeParseResult<z.output<(typeof MESSAGES)['/v1/traces']>>): void {
    if (error !== undefined) this.faults.push(error.message);
    for (const { resource: from, scopeSpans } of data?.resourceSpans ?? []) {
      this.resources.push(from.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
  }

  #takeMetrics({ data, error }: z.ZodSafeParseResult<z.output<(typeof MESSAGES)['/v1/metrics']>>): void {
    if (error !== undefined) this.faults.push(error.message);
    for (const { resource: from, scopeMetrics } of data?.resourceMetrics ?? []) {
      this.resources.push(from.attributes);
      for (const { metrics } of scopeMetrics) for (const one of metrics) this.metrics.set(one.name, one);
    }
  }
}

function writeForever(response: ServerResponse): void {
  response.writeHead(200);
  const part = Buffer.alloc(64 * 1_024, 32);
  const write = (): void => {
    while (!response.destroyed && response.write(part));
  };
  response.on('drain', write);
  write();
}
