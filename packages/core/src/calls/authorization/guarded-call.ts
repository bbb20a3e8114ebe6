/** What the step "decide" of a call is about, and what it notes on it. */
import type { Beside, CallOptions } from './call-request.js';
import type { CancelSignal } from './cancel-signal.js';
import type { CatalogTool } from './catalog/tool.js';
import type { ServerConfig } from './config/schema.js';
import type { TurnbuckleError } from './errors.js';
import type { AskedApproval, CallKind } from './events.js';
import type { Permit } from './permit.js';
import type { Caller } from './policy/capabilities.js';
import type { Decision } from './policy/decide.js';

/** What was decided about a call at last, noted by the guard on the call itself. */
export interface Verdict {
  decision: Decision['action'] | undefined;
  reason: string | undefined;
  /** An `ask` that needed nobody: it was answered for the session. */
  remembered: boolean;
}

/** What is asked for, once it is known what it is. */
export interface GuardedCall {
  readonly requestId: string;
  readonly kind: CallKind;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  /** Undefined: it is the call of a tool. */
  readonly method: string | undefined;
  /** Absent for what has no definition: resources and prompts. The one that was decided about. */
  definition: CatalogTool | undefined;
  /** What is sent. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The same with every number as it is sent, also those that JavaScript cannot hold: what rules compare. */
  readonly exactly: Readonly<Record<string, unknown>>;
  /** What else goes to the server with them. */
  readonly beside: Beside | undefined;
  readonly caller: Caller | undefined;
  /** What a person said yes to, of the call that this belongs to. */
  readonly permit?: Permit | undefined;
  /** Told what a person said yes to. */
  readonly onPermit?: ((permit: Permit) => void) | undefined;
  readonly signal: CancelSignal | undefined;
  /** So long it waits for an approval at most. */
  readonly approvalWaitMs?: number | undefined;
  /** Told what somebody is asked about it. */
  readonly onApproval?: ((asked: AskedApproval) => void) | undefined;
  /** What to say when the caller may not know that it exists. */
  readonly unknown: () => TurnbuckleError;
  readonly verdict: Verdict;
  /** Of everything that decisions are made of, when this one was made. */
  version: number;
  config: ServerConfig | undefined;
  /** What a person said yes to. */
  permits: readonly Permit[];
}

type What = 'method' | 'definition' | 'arguments' | 'exactly' | 'beside' | 'unknown' | 'permit';

/** The same fields in the same order for every call: such objects are cheap to make. */
export function guardedCall(
  call: Pick<GuardedCall, 'requestId' | 'kind' | 'server' | 'tool' | 'toolName'> & Verdict,
  request: CallOptions,
  what: Pick<GuardedCall, What>,
): GuardedCall {
  return {
    requestId: call.requestId,
    kind: call.kind,
    server: call.server,
    tool: call.tool,
    toolName: call.toolName,
    method: what.method,
    definition: what.definition,
    arguments: what.arguments,
    exactly: what.exactly,
    beside: what.beside,
    caller: request.caller,
    signal: request.signal,
    approvalWaitMs: request.approvalWaitMs,
    onApproval: request.onApproval,
    unknown: what.unknown,
    permit: what.permit,
    onPermit: request.onPermit,
    verdict: call,
    version: Number.NaN,
    config: undefined,
    permits: NO_PERMITS,
  };
}

const NO_PERMITS: GuardedCall['permits'] = [];
