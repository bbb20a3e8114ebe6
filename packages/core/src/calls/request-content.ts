/** What a call sends, for who has to know it: a person who is asked, and whoever tells it from another call. */
import { type Beside, type CallOptions, withMeta } from './call-request.js';
import type { GuardedCall } from './guarded-call.js';
import { keepSpelling, writeJson } from './json/spelling.js';

type Meta = NonNullable<CallOptions['meta']>;
type Sent = Readonly<Record<string, unknown>>;

/** What is sent with nearly every call, and asks a server to do nothing. In any other form it is something else. */
const USUAL: ReadonlyMap<string, RegExp> = new Map([
  ['io.modelcontextprotocol/logLevel', /^(?:debug|info|notice|warning|error|critical|alert|emergency)$/],
  ['traceparent', /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/],
]);

/** What is another one with each request. Some collectors write the span into the state of a trace. */
const NEW_EACH_TIME: ReadonlyMap<string, RegExp> = new Map([
  ...USUAL,
  ['progressToken', /^/],
  ['tracestate', /^(?:[a-z\d][\w*/@-]{0,255}=[!-+\--<>-~]{1,256}(?:,|$)){1,32}$/],
]);

const isOneOf = (forms: ReadonlyMap<string, RegExp>, key: string, value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && forms.get(key)?.test(String(value)) === true;

/** Undefined when nothing is left. */
function without(forms: ReadonlyMap<string, RegExp>, meta: Meta | undefined): Meta | undefined {
  const left = Object.entries(meta ?? {}).filter(([key, value]) => !isOneOf(forms, key, value));
  return meta === undefined || left.length === 0 ? undefined : keepSpelling(meta, Object.fromEntries(left));
}

/** Whether its `_meta` says anything to the server that is not new with each request anyway. */
export const tellsMore = ([, meta]: Beside): boolean => without(NEW_EACH_TIME, meta) !== undefined;

/** What goes to the server beside the arguments, by the names that it is sent under; undefined when nobody need read it. */
export function sentBeside([more, meta, inputResponses, requestState]: Beside): Sent | undefined {
  const sent = withMeta({}, { more, meta: without(USUAL, meta), inputResponses, requestState });
  return Object.keys(sent).length === 0 ? undefined : sent;
}

/** The same text for calls of which the server would get the same: written as it is sent, but for what is new each time. */
export function writeSent({ method, tool, arguments: args, beside }: GuardedCall): string {
  const [more, meta, inputResponses, requestState] = beside ?? [];
  const own = method === undefined ? { name: tool, arguments: args } : args;
  const lasting = without(NEW_EACH_TIME, meta);
  return writeJson({ method, params: withMeta(own, { more, meta: lasting, inputResponses, requestState }) });
}
