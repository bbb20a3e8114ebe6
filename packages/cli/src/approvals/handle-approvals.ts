/** Questions about calls of agents, in the terminal of a daemon in the foreground: asked where somebody can answer, shown elsewhere. */
import type { Daemon } from '@turnbuckle/gateway';
import type { ApprovalRequest, Approve } from 'turnbuckle';
import { factLines, indented, titleOf } from '../approval-lines.js';
import type { CommandContext } from '../command.js';
import { shellWord } from '../shell-word.js';

const HOST = 'The owner';
const WIDTH = 100;

/** Returns the function that ends it. */
export function showApprovals(context: CommandContext, daemon: Daemon): () => void {
  const { runtime } = daemon.configured;
  const { output } = context;
  if (output.json) return () => {};
  const ended = new AbortController();
  let approver: Promise<Approve> | undefined;
  const ask = async (asked: ApprovalRequest): Promise<void> => {
    approver ??= import('../approve-in-terminal.js').then(({ createTerminalApprover }) =>
      createTerminalApprover(context, 'the daemon', HOST),
    );
    const approve = await approver;
    const over = new AbortController();
    const stop = runtime.on('approval.answered', ({ id, by }) => {
      if (id === asked.id)
        over.abort(by === 'expiry' ? 'Nobody answered in time.' : 'It was answered elsewhere.');
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
    else show(context, asked);
  });
  return () => {
    stop();
    ended.abort('The daemon ends.');
  };
}

function show({ output }: CommandContext, asked: ApprovalRequest): void {
  const [title = '', ...rest] = [...indented(titleOf(asked, HOST), WIDTH, 4), ...factLines(asked, WIDTH)];
  output.note(output.color.bold(title));
  for (const line of rest) output.note(line);
  output.note(`  answer it  turnbuckle approvals answer ${shellWord(asked.id)} once`);
}
