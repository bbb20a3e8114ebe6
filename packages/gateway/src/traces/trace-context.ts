/** W3C trace context: where in somebody's trace a call stands. */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface TraceContext {
  readonly traceId: string;
  /** The span that caused it; undefined at the beginning of a trace. */
  readonly parentId: string | undefined;
  readonly spanId: string;
  readonly sampled: boolean;
}

const FORM = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** A place below the one that the text names, or at the beginning of a new trace. */
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
  const [, traceId = '', parentId = '', flags = ''] = FORM.exec(String(traceparent)) ?? [];
  // Nothing but zeros names nothing.
  if (!/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(parentId)) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const toTraceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

/** What a vendor may keep there, by the standard. */
const MOST_STATE = 512;

/** Where an HTTP request stands in a trace, as the `_meta` of a call; undefined when it is in none. */
export function traceMetaOf({
  traceparent,
  tracestate,
}: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
  if (typeof traceparent !== 'string' || readParent(traceparent) === undefined) return undefined;
  const hasState = typeof tracestate === 'string' && tracestate.length <= MOST_STATE;
  return { traceparent, ...(hasState && { tracestate }) };
}
