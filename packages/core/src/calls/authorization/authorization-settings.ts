/** The settings that decide about calls in addition to the rules, and who approves. */
import type { Approve } from '../../approvals/approval-request.js';
import type { ApprovalHint } from '../../approvals/approvals.js';
import type { FlowMode, PinMode, PlacedRule, Rule } from '../../config/schema/rule-schema.js';
import type { Action } from '../../policy/decide.js';

export interface AuthorizationSettings {
  /** The decision when no rule matches. Absent: allow for the host, ask for agents. */
  readonly defaultDecision?: Action | undefined;
  /** Answers approval requests for a person. */
  readonly approve?: Approve | undefined;
  /** `queue`: without `approve`, calls wait for `approvals.answer()` instead of failing. */
  readonly approvals?: 'queue' | undefined;
  /** The hint of the error when no approver is available: a text, or a function that builds it from the call. */
  readonly approvalHint?: ApprovalHint | undefined;
  /** An approval request expires after this time; default 120,000. */
  readonly approvalTimeoutMs?: number | undefined;
  /**
   * How long an agent's call waits for approval before it ends with APPROVAL_PENDING. The request stays open, and a
   * repetition of the call resumes it. Absent: until the request expires.
   */
  readonly approvalWaitMs?: number | undefined;
  /** Stores an "always": the new rule, and the rule that asked, which the new one must precede. */
  readonly onAlways?: ((rule: Rule, asked: PlacedRule | undefined) => Promise<void> | void) | undefined;
  /** Which tools are pinned to their approved definition; by default those answered with "always". */
  readonly pins?: PinMode | undefined;
  /** What to do with an agent's call that could leak private data; default `ask`. */
  readonly flows?: FlowMode | undefined;
}
