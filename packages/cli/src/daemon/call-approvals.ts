/** The approval that a call through the daemon waits for, put to the person who makes the call. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalRequest } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import { askingPlace } from '../approval-lines.js';
import type { CallableTool } from '../call-request.js';
import type { CommandContext } from '../command.js';
import { shellWord } from '../shell-word.js';
import { showMoment } from '../time-words.js';
import { showLine } from '../untrusted-text.js';
import type { DaemonClient } from './daemon-client.js';
import { leaveWhenSettled, pendingApprovals, whySettled } from './leave-when-settled.js';

export interface WaitingCall {
  readonly client: DaemonClient;
  readonly tool: CallableTool;
  /** Aborted: the call has ended. */
  readonly signal: AbortSignal;
}

const POLL_MS = 300;

/** Asks on a terminal; elsewhere says once how it can be answered. Never rejects. */
export async function answerForCall(context: CommandContext, call: WaitingCall): Promise<void> {
  try {
    for (const answered = new Set<string>(); !call.signal.aborted; await delay(POLL_MS, undefined, call)) {
      const approvals = await pendingApprovals(call.client, call.signal);
      const waiting = approvals.find((one) => isOf(one, call.tool) && !answered.has(one.id));
      if (waiting === undefined) continue;
      answered.add(waiting.id);
      if (!context.output.interactive) return tell(context, waiting);
      await ask(context, waiting, call);
    }
  } catch {
    // The call has ended, or its token is not good for looking at approvals: then others answer, or nobody.
  }
}

/** Those of agents are for whoever watches them. */
const isOf = ({ callerId, server, tool }: ApprovalRequest, called: CallableTool): boolean =>
  callerId === undefined && server === called.server && tool === called.tool;

function tell({ output, flags }: CommandContext, asked: ApprovalRequest): void {
  const { id, tool, reason, expiresAt } = asked;
  const until = flags.timeout === undefined ? `until ${showMoment(Date.parse(expiresAt))}` : 'for --timeout';
  output.warn(
    `The call of ${showLine(tool)} waits for an approval, ${until}: ${showLine(reason, 200)}${askingPlace(asked)}`,
  );
  output.warn(`Answer it: turnbuckle approvals answer ${showLine(shellWord(id))} once`);
}

async function ask(
  context: CommandContext,
  waiting: ApprovalRequest,
  { client, signal }: WaitingCall,
): Promise<void> {
  const { createTerminalApprover } = await import('../approve-in-terminal.js');
  const over = new AbortController();
  const leave = (): void => over.abort(whySettled(waiting));
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  const looking = leaveWhenSettled(client, waiting, over);
  const answer = await createTerminalApprover(context, 'the daemon')(waiting, over.signal);
  const isOpen = !over.signal.aborted;
  over.abort();
  await looking;
  signal.removeEventListener('abort', leave);
  if (!isOpen) return;
  await client
    .post(`/api/approvals/${encodeURIComponent(waiting.id)}`, { answer })
    .catch((error: unknown) => {
      // Somebody else was faster.
      if (!(error instanceof TurnbuckleError)) throw error;
    });
}
