/**
 * Every call becomes a record in the log: built, redacted, bounded and handed to the kernel before the answer
 * leaves. Only listens: what goes wrong here never touches the caller.
 */
import type { CallLog, CallRecord } from '@turnbuckle/store';
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { toTurnbuckleError } from 'turnbuckle/host';
import { withoutFile } from '../identity/without-file.js';
import { redactText } from './redact-text.js';
import { truncateJson } from './truncate-json.js';

export interface RecordOptions {
  /** Most characters of arguments (16 K) and result (4 K) that are kept of a call. 0: none of them. */
  readonly keep?:
    | { readonly arguments?: number | undefined; readonly result?: number | undefined }
    | undefined;
}

type Settled = RuntimeEvents['call.settled'];
type Watched = Pick<Runtime, 'on' | 'redact'>;

/** Arguments make a call that can be made again. Taking secrets out costs about 20 µs for 1,000 characters. */
const MAX_ARGUMENTS_CHARACTERS = 16 * 1_024;
const MAX_RESULT_CHARACTERS = 4 * 1_024;
const MAX_ALSO_SENT_CHARACTERS = 4 * 1_024;
const MAX_NAME_CHARACTERS = 512;
const MAX_ERROR_CHARACTERS = 2_048;

/** Records every call of the runtime from now on; returns the function that ends it. */
export function recordCalls(
  runtime: Watched,
  log: Pick<CallLog, 'append'>,
  options: RecordOptions = {},
): () => void {
  return runtime.on('call.settled', (event) => log.append(toCallRecord(event, { runtime, options })));
}

interface RecordContext {
  readonly runtime: Watched;
  readonly options: RecordOptions;
}

function toCallRecord(event: Settled, { runtime, options }: RecordContext): CallRecord {
  const { keep = {} } = options;
  const redact = (value: unknown): unknown => runtime.redact(value);
  const args = truncateJson(event.arguments, { limit: keep.arguments ?? MAX_ARGUMENTS_CHARACTERS, redact });
  const result = truncateJson(event.result, { limit: keep.result ?? MAX_RESULT_CHARACTERS, redact });
  // Names of known tools hold no secret; an address of a resource, or what somebody made up, may.
  const isPlain = event.kind === 'tool' && event.outcome !== 'failed';
  const safe = (text: string): string => truncate(String(redact(text)), MAX_NAME_CHARACTERS);
  const name = (text: string): string => (isPlain ? truncate(text, MAX_NAME_CHARACTERS) : safe(text));
  const approval = approvalOf(event);
  return {
    id: safe(event.requestId),
    startedAt: event.startedAt,
    durationMs: event.durationMs,
    // Clients and people choose these.
    run: event.run && safe(event.run),
    caller: event.callerId && safe(event.callerId),
    server: name(event.server),
    tool: name(event.tool),
    toolName: name(event.toolName),
    kind: event.kind,
    arguments: args.text,
    argumentsBytes: args.bytes,
    alsoSent: truncateJson(event.alsoSent, {
      limit: Math.min(keep.arguments ?? MAX_ALSO_SENT_CHARACTERS, MAX_ALSO_SENT_CHARACTERS),
      redact,
    }).text,
    result: result.text,
    resultBytes: result.bytes,
    outcome: event.outcome,
    code: event.error?.code,
    error: errorOf(event, redact),
    attempts: event.attempts,
    era: event.era,
    decision: event.decision,
    reason: event.reason,
    approval: approval && safe(approval),
    energy: event.energy,
  };
}

/** What was answered, and by whom. */
function approvalOf({ approval, remembered }: Settled): string | undefined {
  if (approval !== undefined) return `${approval.answer} by ${approval.by}`;
  return remembered ? 'session' : undefined;
}

/** What went wrong, in one text: of a tool that says so itself, the first that it says. */
function errorOf(
  { outcome, error, result }: Settled,
  redact: (value: unknown) => unknown,
): string | undefined {
  if (outcome === 'ok') return undefined;
  // The log is read by tokens that may not know the files of the configuration.
  const text = error === undefined ? firstText(result) : toTurnbuckleError(withoutFile(error)).message;
  return text && redactText(text, { limit: MAX_ERROR_CHARACTERS, redact });
}

function firstText(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || !('content' in result)) return undefined;
  const parts: unknown[] = Array.isArray(result.content) ? result.content : [];
  for (const part of parts)
    if (typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string')
      return part.text;
  return undefined;
}

const truncate = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
