/** Questions about calls of agents, in the terminal of a daemon in the foreground: asked where somebody can answer, shown elsewhere. */
import type { Daemon } from '@turnbuckle/gateway';
import type { ApprovalRequest, Approve } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { factLines, titleOf, wrapIndented } from './approval-lines.js';

const HOST = 'The owner';
const WIDTH = 100;

/** Returns the function that ends it. */
export function handleApprovalsInTerminal(context: CommandContext, daemon: Daemon): () => void {
  const { runtime } = daemon.configured;
  const { output } = context;
  if (output.json) return () => {};
  const ended = new AbortController();
  let approver: Promise<Approve> | undefined;
  const ask = async (asked: ApprovalRequest): Promise<void> => {
    approver ??= import('./approve-in-terminal.js').then(({ createTerminalApprover }) =>
      createTerminalApprover(context, 'the daemon', HOST),
    );
    const approve = await approver;
    const over = new AbortController();
    const stop = runtime.on('approval.answered', ({ id, by }) => {
      if (id === asked.id) over.abort(by === 'expiry' ? 'Approval timed out.' : 'Answered elsewhere.');
    });
    try {
      const answer = await approve(asked, AbortSignal.any([over.signal, ended.signal]));
      if (!over.signal.aborted && !ended.signal.aborted)
        runtime.approvals.answer(asked.id, answer, 'terminal');
    } finally {
      stop();
    }
  };
  const stop = runtime.on('approval.asked', (asked) => {
    if (output.interactive) void ask(asked).catch(() => {});
    else printRequest(context, asked);
  });
  return () => {
    stop();
    ended.abort('The daemon is stopping.');
  };
}

function printRequest({ output }: CommandContext, asked: ApprovalRequest): void {
  const [title = '', ...rest] = [...wrapIndented(titleOf(asked, HOST), WIDTH, 4), ...factLines(asked, WIDTH)];
  output.note(output.color.bold(title));
  for (const line of rest) output.note(line);
  output.note(`  to allow     turnbuckle approvals answer ${shellQuote(asked.id)} once`);
}
