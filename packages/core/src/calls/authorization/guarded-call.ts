/** The input of the "authorize" step. */

import type { CancelSignal } from '../../async/cancel-signal.js';
import type { CatalogTool } from '../../catalog/tool.js';
import type { ApprovalRequestData, CallKind, GivenApproval } from '../../events.js';
import type { Caller } from '../../policy/capabilities.js';
import type { CallOptions, RequestExtras } from '../call-request.js';
import type { Permit } from './permit.js';

/** What happens to a call during its authorization. */
export interface AuthorizationObserver {
  /** In the same turn as a decision that grants the call: no other call can use the same rest of a budget. */
  onGranted(definition: CatalogTool | undefined): void;
  /** The approval request was answered. */
  onAnswered(given: GivenApproval): void;
}

/** The resolved call. */
export interface GuardedCall {
  readonly requestId: string;
  readonly kind: CallKind;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  /** Undefined for a tool call. */
  readonly method: string | undefined;
  /** Absent for resources and prompts. */
  readonly definition: CatalogTool | undefined;
  /** What is sent. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The arguments with exact numbers, including those that JavaScript cannot represent: what rules compare. */
  readonly exactArguments: Readonly<Record<string, unknown>>;
  /** What else is sent to the server. */
  readonly extras: RequestExtras | undefined;
  readonly caller: Caller | undefined;
  /** Approvals of the call that this belongs to. */
  readonly permit?: Permit | undefined;
  /** Called with what a person approved. */
  readonly onPermit?: ((permit: Permit) => void) | undefined;
  readonly signal: CancelSignal | undefined;
  /** The maximum wait for an approval. */
  readonly approvalWaitMs?: number | undefined;
  /** Called with the approval request. */
  readonly onApproval?: ((asked: ApprovalRequestData) => void) | undefined;
  /** Set when its authorization begins. */
  observer: AuthorizationObserver | undefined;
}

type CallDetails = 'method' | 'definition' | 'arguments' | 'exactArguments' | 'extras' | 'permit';

/** The same fields in the same order for every call keep these objects cheap to create. */
export function guardedCall(
  call: Pick<GuardedCall, 'requestId' | 'kind' | 'server' | 'tool' | 'toolName'>,
  request: CallOptions,
  what: Pick<GuardedCall, CallDetails>,
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
    exactArguments: what.exactArguments,
    extras: what.extras,
    caller: request.caller,
    signal: request.signal,
    approvalWaitMs: request.approvalWaitMs,
    onApproval: request.onApproval,
    permit: what.permit,
    onPermit: request.onPermit,
    observer: undefined,
  };
}
