import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalAnswer, ApprovalRequest, Approve } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import { argumentLines, claimLine, factLines } from '../approval-lines.js';
import type { CommandContext } from '../command.js';
import { findAttachment } from '../daemon/attachment.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { NoAnswer } from '../daemon/exchange.js';
import { nearestWord } from '../nearest-word.js';
import { escapeHidden, showLine } from '../untrusted-text.js';
import { needWord } from '../words.js';

const ANSWERS: readonly string[] = ['once', 'session', 'always', 'deny'] satisfies ApprovalAnswer[];
const POLL_MS = 500;
const WIDTH = 100;

export async function run(context: CommandContext): Promise<void> {
  const [word = 'list'] = context.words;
  const work = { list, watch, answer }[word];
  if (work === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is nothing that approvals can do.`, {
      hint: `Did you mean "turnbuckle approvals ${nearestWord(word, ['list', 'watch', 'answer']) ?? 'list'}"?`,
    });
  const attachment = findAttachment(context);
  if (attachment === undefined) throw noDaemon();
  await work(context, attachment.client).catch((error: unknown) => {
    throw error instanceof NoAnswer ? noDaemon(error) : error;
  });
}

const pending = async (client: DaemonClient, signal: AbortSignal): Promise<readonly ApprovalRequest[]> =>
  (await client.get<{ approvals: readonly ApprovalRequest[] }>('/api/approvals', { signal })).approvals;

async function list({ output, signal }: CommandContext, client: DaemonClient): Promise<void> {
  const approvals = await pending(client, signal);
  if (output.json) return output.data(approvals);
  if (approvals.length === 0) return output.note('Nothing waits for an approval.');
  for (const asked of approvals) show({ output }, asked);
}

/** As it is asked on a terminal, with the words for answering. */
function show({ output }: Pick<CommandContext, 'output'>, asked: ApprovalRequest): void {
  const [title = '', ...facts] = [...factLines(asked), ...claimLine(asked)];
  output.line(`${output.color.bold(showLine(asked.id, 60))}  ${title}`);
  for (const line of [...facts, ...argumentLines(asked, WIDTH)]) output.line(line);
  output.line(output.color.dim(`  until      ${asked.expiresAt}; answers: ${asked.answers.join(', ')}`));
}

/** Asks one after the other; what somebody else answers meanwhile is not asked any more. */
async function watch(context: CommandContext, client: DaemonClient): Promise<void> {
  const { output, signal } = context;
  const approve = output.interactive ? await approverOf(context) : undefined;
  const seen = new Set<string>();
  output.note(output.color.dim('Waiting for calls that need an approval. Ctrl-C ends it.'));
  for (; ; await delay(POLL_MS, undefined, { signal })) {
    for (const asked of await pending(client, signal)) {
      if (seen.has(asked.id)) continue;
      seen.add(asked.id);
      if (approve !== undefined) await ask(context, client, { asked, approve });
      else if (output.json) output.line(escapeHidden(JSON.stringify(asked)));
      else show(context, asked);
    }
  }
}

async function approverOf(context: CommandContext): Promise<Approve> {
  const { createTerminalApprover } = await import('../approve-in-terminal.js');
  return createTerminalApprover(context, 'the daemon');
}

async function ask(
  { output, signal }: CommandContext,
  client: DaemonClient,
  { asked, approve }: { readonly asked: ApprovalRequest; readonly approve: Approve },
): Promise<void> {
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const looking = leaveWhenAnswered(client, asked.id, over);
  const answer = await approve(asked, ends);
  const isOpen = !over.signal.aborted;
  over.abort();
  await looking;
  signal.throwIfAborted();
  if (!isOpen) return;
  await send(client, asked.id, answer).catch((error: unknown) => {
    if (!(error instanceof TurnbuckleError)) throw error;
    output.note(error.message);
  });
}

async function leaveWhenAnswered(client: DaemonClient, id: string, over: AbortController): Promise<void> {
  try {
    while ((await pending(client, over.signal)).some((one) => one.id === id))
      await delay(POLL_MS, undefined, { signal: over.signal });
    over.abort();
  } catch {
    // It was answered here, or the daemon is gone, which the next look tells.
  }
}

async function answer(context: CommandContext, client: DaemonClient): Promise<void> {
  const { output } = context;
  const id = needWord(context, 1, 'id of the approval');
  const word = needWord(context, 2, 'answer');
  if (!ANSWERS.includes(word))
    throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is not one of ${ANSWERS.join(', ')}.`, {
      hint: 'once: this call; session: until the daemon ends; always: from now on; deny: not at all.',
    });
  await send(client, id, word);
  if (output.json) output.data({ id, answer: word });
  else output.line(word === 'deny' ? 'Not allowed.' : 'Allowed.');
}

const send = (client: DaemonClient, id: string, word: string): Promise<unknown> =>
  client.post(`/api/approvals/${encodeURIComponent(id)}`, { answer: word });

const noDaemon = (cause?: NoAnswer): TurnbuckleError =>
  new TurnbuckleError('CONNECT_FAILED', 'No daemon runs: nothing waits for an approval.', {
    cause,
    hint: 'Start one: turnbuckle serve start',
  });
