/** The content of a call, for approval requests and for comparing calls. */

import { copyRawNumbers, writeJson } from '../json/lossless-json.js';
import { TRACESTATE_PATTERN } from '../telemetry/trace-meta.js';
import type { GuardedCall } from './authorization/guarded-call.js';
import { type CallOptions, type RequestExtras, withMeta } from './call-request.js';

type Meta = NonNullable<CallOptions['meta']>;
type Sent = Readonly<Record<string, unknown>>;

/** Standard `_meta` that does not ask the server to do anything. In any other form it counts as content. */
const ROUTINE_META: ReadonlyMap<string, RegExp> = new Map([
  ['io.modelcontextprotocol/logLevel', /^(?:debug|info|notice|warning|error|critical|alert|emergency)$/],
  ['traceparent', /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/],
]);

/** Values that differ with each request. Some collectors put the span into the trace state. */
const VOLATILE_META: ReadonlyMap<string, RegExp> = new Map([
  ...ROUTINE_META,
  ['progressToken', /^/],
  ['tracestate', TRACESTATE_PATTERN],
]);

const matchesForm = (forms: ReadonlyMap<string, RegExp>, key: string, value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && forms.get(key)?.test(String(value)) === true;

/** Undefined if nothing is left. */
function omitMeta(forms: ReadonlyMap<string, RegExp>, meta: Meta | undefined): Meta | undefined {
  const left = Object.entries(meta ?? {}).filter(([key, value]) => !matchesForm(forms, key, value));
  return meta === undefined || left.length === 0 ? undefined : copyRawNumbers(meta, Object.fromEntries(left));
}

/** Whether its `_meta` has content besides per-request values. */
export const hasMeaningfulMeta = ([, meta]: RequestExtras): boolean =>
  omitMeta(VOLATILE_META, meta) !== undefined;

/** What is sent besides the arguments, by name; undefined if there is nothing worth showing. */
export function describeExtras([extraParams, meta, inputResponses, requestState]: RequestExtras):
  | Sent
  | undefined {
  const sent = withMeta(
    {},
    { extraParams, meta: omitMeta(ROUTINE_META, meta), inputResponses, requestState },
  );
  return Object.keys(sent).length === 0 ? undefined : sent;
}

/** Equal for calls that send the same content, ignoring per-request values. */
export function requestSignature({ method, tool, arguments: args, extras }: GuardedCall): string {
  const [extraParams, meta, inputResponses, requestState] = extras ?? [];
  const own = method === undefined ? { name: tool, arguments: args } : args;
  const lasting = omitMeta(VOLATILE_META, meta);
  return writeJson({
    method,
    params: withMeta(own, { extraParams, meta: lasting, inputResponses, requestState }),
  });
}
