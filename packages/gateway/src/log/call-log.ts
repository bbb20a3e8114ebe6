/**
 * Every call becomes a record in the log: built, redacted, bounded and handed to the kernel before the answer
 * leaves. Only listens: what goes wrong here never touches the caller.
 */
import type { Invocation, InvocationLog } from '@turnbuckle/store';
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { toKeptJson, withoutEdge } from './kept-json.js';

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
const KEPT_OF_ARGUMENTS = 16 * 1_024;
const KEPT_OF_RESULT = 4 * 1_024;
const KEPT_BESIDE = 4 * 1_024;
const LONGEST_NAME = 512;
/** More never wait for somebody at once. */
const MOST_ANSWERS = 1_000;
const LONGEST_ERROR = 2_048;

/** Records every call of the runtime from now on; returns the function that ends it. */
export function recordCalls(
  runtime: Watched,
  log: Pick<InvocationLog, 'append'>,
  options: RecordOptions = {},
): () => void {
  // What was answered about the few calls that wait for somebody.
  const approvals = new Map<string, string>();
  const stops = [
    (options.approvals ?? runtime).on('approval.answered', ({ requestId, answer, by }) => {
      // Questions of other runtimes are answered here too, and their calls settle there.
      const [oldest] = approvals.keys();
      if (approvals.size >= MOST_ANSWERS && oldest !== undefined) approvals.delete(oldest);
      approvals.set(requestId, `${answer} by ${by}`);
    }),
    runtime.on('call.settled', (event) => {
      const approval = approvals.get(event.requestId) ?? (event.remembered ? 'session' : undefined);
      if (approval !== undefined) approvals.delete(event.requestId);
      log.append(toInvocation(event, { runtime, approval, options }));
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

interface Recording {
  readonly runtime: Watched;
  readonly approval: string | undefined;
  readonly options: RecordOptions;
}

function toInvocation(event: Settled, { runtime, approval, options }: Recording): Invocation {
  const { keep = {} } = options;
  const redact = (value: unknown): unknown => runtime.redact(value);
  const args = toKeptJson(event.arguments, { limit: keep.arguments ?? KEPT_OF_ARGUMENTS, redact });
  const result = toKeptJson(event.result, { limit: keep.result ?? KEPT_OF_RESULT, redact });
  // Names of known tools hold no secret; an address of a resource, or what somebody made up, may.
  const isPlain = event.kind === 'tool' && event.outcome !== 'failed';
  const name = (text: string): string => short(isPlain ? text : String(redact(text)), LONGEST_NAME);
  return {
    id: short(event.requestId, LONGEST_NAME),
    startedAt: event.startedAt,
    durationMs: event.durationMs,
    conversation: event.run && short(event.run, LONGEST_NAME),
    caller: event.callerId && short(event.callerId, LONGEST_NAME),
    server: name(event.server),
    tool: name(event.tool),
    toolName: name(event.toolName),
    kind: event.kind,
    arguments: args.text,
    argumentsBytes: args.bytes,
    alsoSent: toKeptJson(event.alsoSent, {
      limit: Math.min(keep.arguments ?? KEPT_BESIDE, KEPT_BESIDE),
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
  if (text === undefined || text.length <= LONGEST_ERROR * 2)
    return text && short(String(redact(text)), LONGEST_ERROR);
  const looked = text.slice(0, LONGEST_ERROR * 2);
  const shown = withoutEdge(looked, String(redact(looked)));
  return `${shown.slice(0, LONGEST_ERROR - 1)}…`;
}

function firstText(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || !('content' in result)) return undefined;
  const parts: unknown[] = Array.isArray(result.content) ? result.content : [];
  for (const part of parts)
    if (typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string')
      return part.text;
  return undefined;
}

const short = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
