/**
 * The trace context of a request, in the W3C formats, under the keys that MCP reserves in `_meta` and HTTP as headers.
 * It comes from outside: everything that has not exactly the standard's form is left out.
 */

export interface TraceMeta {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** A span of another program. */
export interface RemoteSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Later versions of the format may append fields. */
const TRACEPARENT =
  /^(?:00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})|(?!ff|00)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-[!-~]*)?)$/;
const MAX_TRACEPARENT_LENGTH = 256;
export const TRACESTATE_PATTERN = /^(?:[a-z\d][\w*/@-]{0,255}=[!-+\--<>-~]{1,256}(?:,|$)){1,32}$/;
const MAX_TRACESTATE_LENGTH = 512;
/** The limits up to which the standard requires that baggage is passed on. */
const MAX_BAGGAGE_LENGTH = 8_192;
const MAX_BAGGAGE_MEMBERS = 64;
const BAGGAGE_KEY = /^[\w!#$%&'*+\-.^`|~]+$/;
const BAGGAGE_VALUE = /^[!#-+\--:<-[\]-~]*$/;
const BAGGAGE_PROPERTIES = /^[\t !-+\--~]*$/;

/** The span that the text names; undefined if it is not a valid `traceparent`. */
export function parseTraceparent(text: unknown): RemoteSpan | undefined {
  if (typeof text !== 'string' || text.length > MAX_TRACEPARENT_LENGTH) return undefined;
  const match = TRACEPARENT.exec(text);
  if (match === null) return undefined;
  const traceId = match[1] ?? match[4] ?? '';
  const spanId = match[2] ?? match[5] ?? '';
  const flags = match[3] ?? match[6] ?? '';
  // All zeros are invalid.
  if (!/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function isBaggageMember(member: string): boolean {
  const equals = member.indexOf('=');
  if (equals < 0) return false;
  const rest = member.slice(equals + 1);
  const end = rest.indexOf(';');
  const value = end < 0 ? rest : rest.slice(0, end);
  return (
    BAGGAGE_KEY.test(member.slice(0, equals).trim()) &&
    BAGGAGE_VALUE.test(value.trim()) &&
    (end < 0 || BAGGAGE_PROPERTIES.test(rest.slice(end + 1)))
  );
}

type Fields = Readonly<Record<string, unknown>> | undefined;

/** The trace state in `_meta` or in headers. Several headers of a name are joined with a space. */
export function readTracestate(from: Fields): string | undefined {
  const list = from?.tracestate;
  if (typeof list !== 'string' || list.length > MAX_TRACESTATE_LENGTH) return undefined;
  const text = list.includes(' ') ? list.split(',').map(trim).join(',') : list;
  return TRACESTATE_PATTERN.test(text) ? text : undefined;
}

const trim = (text: string): string => text.trim();

export function readBaggage(from: Fields): string | undefined {
  const text = from?.baggage;
  if (typeof text !== 'string' || text === '' || text.length > MAX_BAGGAGE_LENGTH) return undefined;
  const members = text.split(',', MAX_BAGGAGE_MEMBERS + 1);
  return members.length <= MAX_BAGGAGE_MEMBERS && members.every(isBaggageMember) ? text : undefined;
}

/** The valid parts of the trace context in `_meta` or in headers; a trace state belongs to a valid parent. */
export function readTraceMeta(from: Fields): TraceMeta {
  const traceparent = from?.traceparent;
  const hasParent = typeof traceparent === 'string' && parseTraceparent(traceparent) !== undefined;
  const tracestate = hasParent ? readTracestate(from) : undefined;
  const baggage = readBaggage(from);
  return {
    ...(hasParent && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}
