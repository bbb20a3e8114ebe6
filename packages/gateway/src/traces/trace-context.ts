/** W3C trace context: the position of a call in a trace. */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface TraceContext {
  readonly traceId: string;
  /** The parent span; undefined for the root of a trace. */
  readonly parentId: string | undefined;
  readonly spanId: string;
  readonly sampled: boolean;
}

const TRACEPARENT_PATTERN = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** A child of the span in the text, or the root of a new trace. */
export function continueTrace(traceparent: unknown): TraceContext {
  const parent = readParent(traceparent);
  return {
    traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
    parentId: parent?.parentId,
    spanId: randomBytes(8).toString('hex'),
    sampled: parent?.sampled ?? true,
  };
}

function readParent(
  traceparent: unknown,
): Pick<TraceContext, 'traceId' | 'parentId' | 'sampled'> | undefined {
  const [, traceId = '', parentId = '', flags = ''] = TRACEPARENT_PATTERN.exec(String(traceparent)) ?? [];
  // All zeros are invalid.
  if (!/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const toTraceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

/** The maximum length that the standard gives `tracestate`. */
const MAX_TRACESTATE_CHARACTERS = 512;

/** The trace context of an HTTP request, as `_meta` of a call; undefined if it has none. */
export function traceMetaOf({
  traceparent,
  tracestate,
}: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
  if (typeof traceparent !== 'string' || readParent(traceparent) === undefined) return undefined;
  const hasState = typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE_CHARACTERS;
  return { traceparent, ...(hasState && { tracestate }) };
}
