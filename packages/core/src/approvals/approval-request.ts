/** The approval request that a person sees, and the possible answers. */
import type { ApprovalRequestData } from '../events.js';

/** For this call; until the runtime closes; permanently; not at all. */
export type ApprovalAnswer = 'once' | 'session' | 'always' | 'deny';

export type ApprovalRequest = ApprovalRequestData;

/** Answers for a person. A timeout, a failure or an unknown answer counts as `deny`. */
export type Approve = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => Promise<ApprovalAnswer> | ApprovalAnswer;
