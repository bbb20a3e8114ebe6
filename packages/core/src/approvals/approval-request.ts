/** What a person is asked, and what can be answered. */
import type { AskedApproval } from '../events.js';

/** For this call; until the runtime closes; from now on; not at all. */
export type ApprovalAnswer = 'once' | 'session' | 'always' | 'deny';

export type ApprovalRequest = AskedApproval;

/** Answers for a person. Silence, a failure and any other word count as `deny`. */
export type Approve = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => Promise<ApprovalAnswer> | ApprovalAnswer;
