/** Shows the approval that a call through the daemon waits for to the user who makes the call. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalRequest } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import { askingRuleLocation } from '../approvals/approval-lines.js';
import type { CallableTool } from '../calls/call-request.js';
import type { CommandContext } from '../command.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showLine } from '../terminal/untrusted-text.js';
import type { DaemonClient } from './daemon-client.js';
import { abortWhenSettled, fetchPendingApprovals, settledReason } from './pending-approvals.js';

export interface PendingCall {
  readonly client: DaemonClient;
  readonly tool: Pick<CallableTool, 'server' | 'tool'>;
  /** Aborted: the call has ended. */
  readonly signal: AbortSignal;
}

const POLL_MS = 300;

/** Prompts on a terminal; elsewhere prints once how to answer. Never rejects. */
export async function promptForCallApproval(context: CommandContext, call: PendingCall): Promise<void> {
  try {
    for (const answered = new Set<string>(); !call.signal.aborted; await delay(POLL_MS, undefined, call)) {
      const approvals = await fetchPendingApprovals(call.client, call.signal);
      const waiting = approvals.find((one) => isForCall(one, call.tool) && !answered.has(one.id));
      if (waiting === undefined) continue;
      answered.add(waiting.id);
      if (!context.output.interactive) return printPending(context, waiting);
      await promptForApproval(context, waiting, call);
    }
  } catch {
    // The call has ended, or the token has no read access.
  }
}

/** Approvals of agents are answered with `approvals watch`. */
const isForCall = ({ callerId, server, tool }: ApprovalRequest, called: PendingCall['tool']): boolean =>
  callerId === undefined && server === called.server && tool === called.tool;

function printPending({ output, flags }: CommandContext, asked: ApprovalRequest): void {
  const { id, tool, reason, expiresAt } = asked;
  const until =
    flags.timeout === undefined
      ? `until ${formatTimestamp(Date.parse(expiresAt))}`
      : 'until --timeout expires';
  output.warn(
    `The call to ${showLine(tool)} is waiting for approval ${until}. Reason: ${showLine(reason, 200)}${askingRuleLocation(asked)}`,
  );
  output.warn(`Approve it: turnbuckle approvals answer ${showLine(shellQuote(id))} once`);
}

async function promptForApproval(
  context: CommandContext,
  waiting: ApprovalRequest,
  { client, signal }: PendingCall,
): Promise<void> {
  const { createTerminalApprover } = await import('../approvals/approve-in-terminal.js');
  const over = new AbortController();
  const leave = (): void => over.abort(settledReason(waiting));
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  const looking = abortWhenSettled(client, waiting, over);
  const answer = await createTerminalApprover(context, 'the daemon')(waiting, over.signal);
  const isOpen = !over.signal.aborted;
  over.abort();
  await looking;
  signal.removeEventListener('abort', leave);
  if (!isOpen) return;
  await client
    .post(`/api/approvals/${encodeURIComponent(waiting.id)}`, { answer })
    .catch((error: unknown) => {
      // Already answered elsewhere.
      if (!(error instanceof TurnbuckleError)) throw error;
    });
}
