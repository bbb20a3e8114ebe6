/**
 * What an observer of requests to servers implements: spans and durations by the OpenTelemetry conventions for MCP.
 * It sees names and outcomes, never arguments and results.
 */
import type { TraceMeta } from './trace-meta.js';

/** Attributes by their names in the conventions. Undefined ones are absent. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A request that is about to be sent. The names in it are redacted. */
export interface ObservedRequest {
  /** The name of its span: the method and, where there is one, the tool or prompt. */
  readonly name: string;
  /** Few different values, for spans and metrics. Usually the same object for the same tool. */
  readonly attributes: Attributes;
  /** Attributes of the span alone. */
  readonly spanAttributes: Attributes;
  /** Its `_meta`: the span in its `traceparent` is the parent. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

/** How a request ended. Usually the same object for the same end. */
export interface RequestEnd {
  /** `error.type` and `rpc.response.status_code`; undefined: it succeeded. */
  readonly failure?: Attributes | undefined;
  /** The reason in a word, such as an error code. */
  readonly status?: string | undefined;
}

export interface RequestSpan {
  /** The trace context for the server. Absent members stay as they are. */
  readonly traceMeta: TraceMeta;
  /** `requestId`: the id of the message, where it is known. */
  end(end: RequestEnd, requestId?: string): void;
}

export interface ClientTelemetry {
  /** Called right before each request, also before a retry. */
  startRequest(request: ObservedRequest): RequestSpan;
  /** A session with a server has ended. */
  recordSession(seconds: number, attributes: Attributes): void;
}

/** The bounds of the histograms of durations, in seconds. */
export const DURATION_BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;

/** The histograms of the conventions. */
export const DURATIONS = {
  clientRequest: {
    name: 'mcp.client.operation.duration',
    description: 'The duration of a request to a server, from sending it to receiving its response.',
  },
  clientSession: {
    name: 'mcp.client.session.duration',
    description: 'The duration of a session with a server.',
  },
  serverRequest: {
    name: 'mcp.server.operation.duration',
    description: 'The duration of a request from a client, from its arrival to its response.',
  },
  serverSession: {
    name: 'mcp.server.session.duration',
    description: 'The duration of a session with a client.',
  },
} as const;
