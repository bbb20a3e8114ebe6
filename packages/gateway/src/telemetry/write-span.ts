/** A span, from its start to its form in the JSON of OTLP. */
import type { Attributes, RemoteSpan, RequestEnd } from 'turnbuckle/host';
import { toNanoseconds, writeAttributes, writeSharedAttributes } from './otlp-values.js';

/** A span that has started. */
export interface StartedSpan extends RemoteSpan {
  readonly parentId: string | undefined;
  readonly traceState: string | undefined;
  /** The span of the HTTP request, if the parent is another one. */
  readonly link: RemoteSpan | undefined;
  readonly kind: number;
  readonly startedAt: number;
}

/** It stays small while it waits: it is written when it is sent. */
export interface EndedSpan {
  readonly span: StartedSpan;
  readonly endedAt: number;
  readonly name: string;
  /** The same object for many spans. */
  readonly shared: Attributes;
  /** Of this span alone. */
  readonly own: Attributes;
  readonly end: RequestEnd;
  readonly requestId: string | undefined;
}

const ERROR_STATUS = 2;

export function writeSpan({ span, endedAt, name, shared, own, end, requestId }: EndedSpan): string {
  const { traceId, spanId, parentId, traceState, link, kind, startedAt } = span;
  const { failure, status } = end;
  const ownText = writeAttributes(own);
  const attributes =
    writeSharedAttributes(shared) +
    (ownText === '' ? '' : `,${ownText}`) +
    (requestId === undefined ? '' : `,${writeAttributes({ 'jsonrpc.request.id': requestId })}`) +
    (failure === undefined ? '' : `,${writeSharedAttributes(failure)}`);
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}"` +
    (parentId === undefined ? '' : `,"parentSpanId":"${parentId}"`) +
    (traceState === undefined ? '' : `,"traceState":${JSON.stringify(traceState)}`) +
    `,"name":${JSON.stringify(name)},"kind":${kind},"startTimeUnixNano":"${toNanoseconds(startedAt)}"` +
    `,"endTimeUnixNano":"${toNanoseconds(endedAt)}","attributes":[${attributes}]` +
    (link === undefined ? '' : `,"links":[{"traceId":"${link.traceId}","spanId":"${link.spanId}"}]`) +
    (failure === undefined ? '' : `,"status":${JSON.stringify({ code: ERROR_STATUS, message: status })}`) +
    '}'
  );
}
