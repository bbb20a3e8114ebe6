/** A lane whose requests are reported to telemetry, one span for each, with the trace context in their `_meta`. */
import { createHash } from 'node:crypto';
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { copyRawNumbers } from '../../json/lossless-json.js';
import type {
  Attributes,
  ClientTelemetry,
  ObservedRequest,
  RequestEnd,
  RequestSpan,
} from '../../telemetry/client-telemetry.js';
import {
  attributeText,
  operationAttributes,
  type RequestTarget,
  targetOf,
} from '../../telemetry/request-attributes.js';
import type { TraceMeta } from '../../telemetry/trace-meta.js';
import type { Lane, LaneRequest, LaneResult } from './lane.js';

export interface LinkTelemetry {
  readonly telemetry: ClientTelemetry;
  readonly redact: (text: string) => string;
}

export interface ObservedLaneOptions extends LinkTelemetry {
  /** Of the link, for every request. */
  readonly attributes: Attributes;
  readonly sessionId: () => string | undefined;
}

/** Tools and prompts whose attributes are kept; those of others are created for each request. */
const MAX_KNOWN_OPERATIONS = 1_000;
const MAX_KNOWN_LENGTH = 512;

type Operation = Pick<ObservedRequest, 'name' | 'attributes'>;

export class ObservedLane implements Lane {
  readonly #lane: Lane;
  readonly #options: ObservedLaneOptions;
  readonly #operations = new Map<string, Operation>();
  #session: { readonly id: string; readonly shown: string } | undefined;

  constructor(lane: Lane, options: ObservedLaneOptions) {
    this.#lane = lane;
    this.#options = options;
  }

  async request(request: LaneRequest): Promise<LaneResult> {
    const span = this.#start(request);
    if (span === undefined) return this.#lane.request(request);
    let sentId: number | undefined;
    const onId = (id: number): void => {
      sentId = id;
    };
    const params = withTraceMeta(request.params, span.traceMeta);
    try {
      const result = await this.#lane.request({ ...request, params, onId });
      endSafely(span, result.isError === true ? TOOL_FAILURE : SUCCESS, sentId);
      return result;
    } catch (thrown) {
      endSafely(span, toRequestEnd(thrown), sentId);
      throw thrown;
    }
  }

  /** A defect of the host's telemetry must not fail a call. */
  #start({ method, params }: LaneRequest): RequestSpan | undefined {
    const { telemetry, redact } = this.#options;
    const target = targetOf(method, params);
    const { uri } = target;
    try {
      return telemetry.startRequest({
        ...this.#operation(method, target),
        spanAttributes: {
          'mcp.session.id': this.#sessionHash(),
          'mcp.resource.uri': uri === undefined ? undefined : attributeText(redact(uri)),
        },
        meta: isRecord(params._meta) ? params._meta : undefined,
      });
    } catch {
      return undefined;
    }
  }

  #operation(method: string, { tool, prompt }: RequestTarget): Operation {
    const key = `${method}\n${tool ?? prompt ?? ''}`;
    const known = this.#operations.get(key);
    if (known !== undefined) return known;
    const { redact, attributes: common } = this.#options;
    const show = (name: string | undefined): string | undefined =>
      name === undefined ? undefined : attributeText(redact(name));
    const { name, attributes } = operationAttributes(method, { tool: show(tool), prompt: show(prompt) });
    const made = { name, attributes: { ...common, ...attributes } };
    if (this.#operations.size < MAX_KNOWN_OPERATIONS && key.length <= MAX_KNOWN_LENGTH)
      this.#operations.set(key, made);
    return made;
  }

  /** Who knows the id of a session may be able to use it: its hash identifies the session as well. */
  #sessionHash(): string | undefined {
    const id = this.#options.sessionId();
    if (id === undefined) return undefined;
    if (this.#session?.id !== id)
      this.#session = { id, shown: createHash('sha256').update(id).digest('hex').slice(0, 32) };
    return this.#session.shown;
  }
}

const SUCCESS: RequestEnd = {};
const TOOL_FAILURE: RequestEnd = { failure: { 'error.type': 'tool_error' }, status: 'tool_error' };

/** The code of the server's JSON-RPC error, otherwise our own. */
function toRequestEnd(thrown: unknown): RequestEnd {
  if (!(thrown instanceof TurnbuckleError)) return { failure: { 'error.type': '_OTHER' } };
  const rpc = thrown.data?.rpc;
  const code = isRecord(rpc) && Number.isSafeInteger(rpc.code) ? String(rpc.code) : undefined;
  return {
    failure: { 'error.type': code ?? thrown.code, 'rpc.response.status_code': code },
    status: thrown.code,
  };
}

function endSafely(span: RequestSpan, end: RequestEnd, sentId: number | undefined): void {
  try {
    span.end(end, sentId?.toString());
  } catch {
    // A defect of the host's telemetry must not fail a call.
  }
}

/** The params with this trace context. A trace state belongs to its parent: both are replaced together. */
function withTraceMeta(params: LaneRequest['params'], traceMeta: TraceMeta): LaneRequest['params'] {
  const { traceparent, tracestate, baggage } = traceMeta;
  if (traceparent === undefined && baggage === undefined) return params;
  const own = isRecord(params._meta) ? params._meta : {};
  const meta: Record<string, unknown> = copyRawNumbers(own, { ...own });
  if (traceparent !== undefined) {
    meta.traceparent = traceparent;
    if (tracestate === undefined) delete meta.tracestate;
    else meta.tracestate = tracestate;
  }
  if (baggage !== undefined) meta.baggage = baggage;
  return copyRawNumbers(params, { ...params, _meta: meta });
}

/** A defect of the host's telemetry must not keep a connection from closing. */
export function recordSession(telemetry: ClientTelemetry, seconds: number, attributes: Attributes): void {
  try {
    telemetry.recordSession(seconds, attributes);
  } catch {
    // As above.
  }
}

/** How the requests of a link travel. */
export interface LinkPath {
  readonly server: string;
  readonly transport: 'stdio' | 'http' | 'sse' | 'websocket' | 'in-process';
  /** The origin of a remote server. */
  readonly address: string | undefined;
  readonly protocolVersion: string;
}

const NETWORKS: Readonly<Record<LinkPath['transport'], Attributes>> = {
  stdio: { 'network.transport': 'pipe' },
  http: { 'network.transport': 'tcp', 'network.protocol.name': 'http' },
  sse: { 'network.transport': 'tcp', 'network.protocol.name': 'http' },
  websocket: { 'network.transport': 'tcp', 'network.protocol.name': 'websocket' },
  'in-process': {},
};

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http:', 80],
  ['ws:', 80],
  ['https:', 443],
  ['wss:', 443],
]);

/** What all requests and the session of a link have in common. */
export function linkAttributes(path: LinkPath, redact: LinkTelemetry['redact']): Attributes {
  const { server, transport, address, protocolVersion } = path;
  const url = address === undefined ? undefined : new URL(address);
  return {
    'turnbuckle.server.name': attributeText(redact(server)),
    'mcp.protocol.version': protocolVersion,
    ...NETWORKS[transport],
    ...(url !== undefined && {
      'server.address': attributeText(redact(url.hostname)),
      'server.port': Number(url.port) || DEFAULT_PORTS.get(url.protocol),
    }),
  };
}
