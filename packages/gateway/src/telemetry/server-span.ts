/** A request that the daemon serves: its span and its duration, and the trace context for what follows from it. */
import { createHash } from 'node:crypto';
import {
  attributeText,
  copyRawNumbers,
  type RequestEnd,
  type RequestTarget,
  readBaggage,
  targetOf,
} from 'turnbuckle/host';
import { SERVER_KIND, type Telemetry, traceMetaOf } from './telemetry.js';
import type { StartedSpan } from './write-span.js';

type Fields = Readonly<Record<string, unknown>>;

export interface ServedRequest {
  readonly method: string;
  readonly params: Fields;
  readonly meta: Fields | undefined;
  /** The headers of its HTTP request; undefined over stdio. */
  readonly headers: Fields | undefined;
  readonly callerId: string;
  readonly redact: (value: unknown) => unknown;
  readonly requestId?: string | number | bigint | undefined;
  readonly sessionId?: string | undefined;
  readonly protocolVersion?: string | undefined;
}

export class ServerSpan {
  readonly #telemetry: Telemetry;
  readonly #request: ServedRequest;
  readonly #target: RequestTarget;
  readonly #span: StartedSpan | undefined;
  readonly #started = performance.now();
  #isTargetKnown = false;
  #server: string | undefined;

  constructor(telemetry: Telemetry, request: ServedRequest) {
    this.#telemetry = telemetry;
    this.#request = request;
    this.#target = targetOf(request.method, request.params);
    const { meta, headers } = request;
    const isSecret = (text: string): boolean => request.redact(text) !== text;
    this.#span = telemetry.startSpan(SERVER_KIND, { meta, headers, isSecret });
  }

  /** The tool or prompt exists. Names that clients make up are in no span name and in no metric. */
  confirmTarget(server?: string): void {
    this.#isTargetKnown = true;
    this.#server ??= server;
  }

  /** `_meta` for a server, with the trace context of this span. */
  metaFor(meta: Fields | undefined): Fields | undefined {
    const span = this.#span;
    if (span === undefined) return meta;
    const { traceparent: _, tracestate: __, baggage: ___, ...rest } = meta ?? {};
    const baggage = readBaggage(this.#request.meta) ?? readBaggage(this.#request.headers);
    const sent = { ...rest, ...traceMetaOf(span), ...(baggage !== undefined && { baggage }) };
    return meta === undefined ? sent : copyRawNumbers(meta, sent);
  }

  end(end: RequestEnd = {}): void {
    const { method, headers, protocolVersion, callerId } = this.#request;
    const path = { isHttp: headers !== undefined, protocolVersion };
    const { name, attributes: shared } = this.#telemetry.servedOperation(method, this.#knownTarget(), path);
    const seconds = (performance.now() - this.#started) / 1_000;
    this.#telemetry.recordServed(seconds, shared, { failure: end.failure, owner: callerId });
    const span = this.#span;
    if (span?.isSampled !== true) return;
    const endedAt = this.#telemetry.now();
    const own = this.#ownAttributes();
    this.#telemetry.addSpan({ span, endedAt, name, shared, own, end, requestId: this.#requestId() });
  }

  /** A name can contain a secret, or be very long, even if the server lists it. */
  #knownTarget(): RequestTarget {
    if (!this.#isTargetKnown) return {};
    const { tool, prompt } = this.#target;
    return { tool: tool && this.#show(tool), prompt: prompt && this.#show(prompt) };
  }

  #ownAttributes(): Record<string, string | undefined> {
    const { tool, prompt, uri } = this.#target;
    const { callerId, sessionId } = this.#request;
    const show = (text: string | undefined): string | undefined => text && this.#show(text);
    return {
      'turnbuckle.caller.id': show(callerId),
      'turnbuckle.server.name': show(this.#server),
      'mcp.session.id': sessionId && hashOf(sessionId),
      'mcp.resource.uri': show(uri),
      ...(!this.#isTargetKnown && { 'gen_ai.tool.name': show(tool), 'gen_ai.prompt.name': show(prompt) }),
    };
  }

  /** Clients choose it. */
  #requestId(): string | undefined {
    const { requestId } = this.#request;
    return typeof requestId === 'string' ? this.#show(requestId) : requestId?.toString();
  }

  #show(text: string): string {
    return attributeText(String(this.#request.redact(text)));
  }
}

/** Who knows the id of a session may be able to use it: its hash identifies the session as well. */
const hashOf = (sessionId: string): string =>
  createHash('sha256').update(sessionId).digest('hex').slice(0, 32);
