/**
 * Every call becomes a record in the log: built, redacted, bounded and handed to the kernel before the answer
 * leaves. Only listens: what goes wrong here never touches the caller.
 */
import type { CallLog, CallRecord } from '@turnbuckle/store';
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { redactText } from './redact-text.js';
import { truncateJson } from './truncate-json.js';

export interface RecordOptions {
  /** Most characters of arguments (16 K) and result (4 K) that are kept of a call. 0: none of them. */
  readonly keep?:
    | { readonly arguments?: number | undefined; readonly result?: number | undefined }
    | undefined;
  /** Where its approvals are answered, if not by itself. */
  readonly approvals?: Pick<Runtime, 'on'> | undefined;
}

type Settled = RuntimeEvents['call.settled'];
type Watched = Pick<Runtime, 'on' | 'redact'>;

/** Arguments make a call that can be made again. Taking secrets out costs about 20 µs for 1,000 characters. */
const MAX_ARGUMENTS_CHARACTERS = 16 * 1_024;
const MAX_RESULT_CHARACTERS = 4 * 1_024;
const MAX_ALSO_SENT_CHARACTERS = 4 * 1_024;
const MAX_NAME_CHARACTERS = 512;
/** More never wait for somebody at once. */
const MAX_REMEMBERED_APPROVALS = 1_000;
const MAX_ERROR_CHARACTERS = 2_048;

/** Records every call of the runtime from now on; returns the function that ends it. */
export function recordCalls(
  runtime: Watched,
  log: Pick<CallLog, 'append'>,
  options: RecordOptions = {},
): () => void {
  // What was answered about the few calls that wait for somebody.
  const approvals = new Map<string, string>();
  const stops = [
    (options.approvals ?? runtime).on('approval.answered', ({ requestId, answer, by }) => {
      // Questions of other runtimes are answered here too, and their calls settle there.
      const [oldest] = approvals.keys();
      if (approvals.size >= MAX_REMEMBERED_APPROVALS && oldest !== undefined) approvals.delete(oldest);
      approvals.set(requestId, `${answer} by ${by}`);
    }),
    runtime.on('call.settled', (event) => {
      const approval = approvals.get(event.requestId) ?? (event.remembered ? 'session' : undefined);
      if (approval !== undefined) approvals.delete(event.requestId);
      log.append(toCallRecord(event, { runtime, approval, options }));
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

interface RecordContext {
  readonly runtime: Watched;
  readonly approval: string | undefined;
  readonly options: RecordOptions;
}

function toCallRecord(event: Settled, { runtime, approval, options }: RecordContext): CallRecord {
  const { keep = {} } = options;
  const redact = (value: unknown): unknown => runtime.redact(value);
  const args = truncateJson(event.arguments, { limit: keep.arguments ?? MAX_ARGUMENTS_CHARACTERS, redact });
  const result = truncateJson(event.result, { limit: keep.result ?? MAX_RESULT_CHARACTERS, redact });
  // Names of known tools hold no secret; an address of a resource, or what somebody made up, may.
  const isPlain = event.kind === 'tool' && event.outcome !== 'failed';
  const name = (text: string): string => truncate(isPlain ? text : String(redact(text)), MAX_NAME_CHARACTERS);
  return {
    id: truncate(event.requestId, MAX_NAME_CHARACTERS),
    startedAt: event.startedAt,
    durationMs: event.durationMs,
    run: event.run && truncate(event.run, MAX_NAME_CHARACTERS),
    caller: event.callerId && truncate(event.callerId, MAX_NAME_CHARACTERS),
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
    approval,
  };
}

/** What went wrong, in one text: of a tool that says so itself, the first that it says. */
function errorOf(
  { outcome, error, result }: Settled,
  redact: (value: unknown) => unknown,
): string | undefined {
  if (outcome === 'ok') return undefined;
  const text = error?.message ?? firstText(result);
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
