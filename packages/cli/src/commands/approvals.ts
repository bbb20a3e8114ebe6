import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalAnswer, ApprovalRequest, Approve } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import {
  alsoSentLines,
  answerWords,
  argumentLines,
  changeLines,
  claimLine,
  cutLines,
  factLines,
  indented,
  titleOf,
} from '../approval-lines.js';
import type { CommandContext } from '../command.js';
import { findAttachment, withWarnings } from '../daemon/attachment.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { NoAnswer } from '../daemon/exchange.js';
import { leaveWhenSettled, pendingApprovals } from '../daemon/leave-when-settled.js';
import type { Output } from '../output.js';
import { showMoment } from '../time-words.js';
import { escapeHidden, showLine, showMessage } from '../untrusted-text.js';
import { meantWord, needWord, refuseSurplus } from '../words.js';

const ANSWERS: readonly ApprovalAnswer[] = ['once', 'session', 'always', 'deny'];
const POLL_MS = 500;
const WIDTH_OF_PIPE = 100;
/** Whose calls are nobody else's: those with the daemon's own token. */
const HOST = 'The owner';
const SESSION = 'the daemon';

export async function run(context: CommandContext): Promise<void> {
  const [word = 'list'] = context.words;
  const work = { list, show: showOne, watch, answer }[word];
  if (work === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is nothing that approvals can do.`, {
      hint: meantWord(context, word, ['list', 'show', 'watch', 'answer']),
    });
  refuseSurplus(context, word === 'answer' ? 3 : word === 'show' ? 2 : 1);
  // Flags that make other commands do without the daemon mean nothing here: approvals are its own.
  const attachment = findAttachment({ ...context, flags: {} });
  if (attachment === undefined) throw noDaemon();
  const { client, isNamed } = attachment;
  await withWarnings(context, client, () => work(context, client)).catch((error: unknown) => {
    if (!(error instanceof NoAnswer)) throw error;
    throw isNamed ? silent(client, error) : noDaemon(error);
  });
}

async function list({ output, signal }: CommandContext, client: DaemonClient): Promise<void> {
  const approvals = await pendingApprovals(client, signal);
  if (output.json) return output.data(approvals);
  if (approvals.length === 0) return output.note('Nothing waits for an approval.');
  for (const asked of approvals) show(asked, output);
  output.note(output.color.dim('Answer one: turnbuckle approvals answer <id> once'));
  if (approvals.some(({ isCut }) => isCut === true))
    output.note(output.color.dim('See all of one: turnbuckle approvals show <id> --full'));
}

/** With --full all that would be sent, however long. */
async function showOne(context: CommandContext, client: DaemonClient): Promise<void> {
  const { output, signal, flags } = context;
  const id = await wholeId(context, client);
  const asked =
    flags.full === true
      ? await client
          .get<ApprovalRequest>(`/api/approvals/${encodeURIComponent(id)}`)
          .catch((error: unknown) => {
            throw isGone(error) ? notWaiting(id, error) : error;
          })
      : (await pendingApprovals(client, signal)).find((one) => one.id === id);
  if (asked === undefined) throw notWaiting(id);
  if (output.json) return output.data(asked);
  show(asked, output);
  if (asked.isCut === true && flags.full !== true)
    output.note(output.color.dim(`All of it: turnbuckle approvals show ${showLine(id, 60)} --full`));
}

/** As it is asked on a terminal, with the words for answering. */
function show(asked: ApprovalRequest, output: Output): void {
  const { color } = output;
  const width = Number.isFinite(output.width) ? output.width - 1 : WIDTH_OF_PIPE;
  const id = showLine(asked.id, 60);
  const change = changeLines(asked, width);
  const [first = '', ...others] = indented(`${id}  ${titleOf(asked, HOST)}`, width, 4);
  output.line(color.bold(first.slice(0, id.length)) + first.slice(id.length));
  for (const line of [...others, ...factLines(asked, width), ...claimLine(asked)]) output.line(line);
  if (change.length > 0) output.line('  changed since it was approved');
  for (const line of [...change, ...argumentLines(asked, width)]) output.line(line);
  const also = alsoSentLines(asked, width);
  if (also.length > 0) output.line('  also sent');
  for (const line of also) output.line(line);
  for (const line of cutLines(asked, width)) output.line(color.yellow(line));
  const until = showMoment(Date.parse(asked.expiresAt));
  output.line(color.dim(`  until      ${until}; answers: ${showLine(asked.answers.join(', '))}`));
}

/** Asks one after the other; what somebody else answers meanwhile is not asked any more. */
async function watch(context: CommandContext, client: DaemonClient): Promise<void> {
  const { output, signal } = context;
  const approve = output.interactive ? await approverOf(context) : undefined;
  const seen = new Set<string>();
  output.note(output.color.dim('Waiting for calls that need an approval. Ctrl-C ends it.'));
  for (; ; await delay(POLL_MS, undefined, { signal })) {
    for (const asked of await pendingApprovals(client, signal)) {
      if (seen.has(asked.id)) continue;
      seen.add(asked.id);
      if (approve !== undefined) await ask(context, client, { asked, approve });
      else if (output.json) output.line(escapeHidden(JSON.stringify(asked)));
      else show(asked, output);
    }
  }
}

async function approverOf(context: CommandContext): Promise<Approve> {
  const { createTerminalApprover } = await import('../approve-in-terminal.js');
  return createTerminalApprover(context, SESSION, HOST);
}

async function ask(
  { output, signal }: CommandContext,
  client: DaemonClient,
  { asked, approve }: { readonly asked: ApprovalRequest; readonly approve: Approve },
): Promise<void> {
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const looking = leaveWhenSettled(client, asked, over);
  const answer = await approve(asked, ends);
  const isOpen = !over.signal.aborted;
  over.abort();
  await looking;
  signal.throwIfAborted();
  if (!isOpen) return;
  await send(client, asked.id, answer).catch((error: unknown) => {
    if (!(error instanceof TurnbuckleError)) throw error;
    output.note(showMessage(error.message));
  });
}

async function answer(context: CommandContext, client: DaemonClient): Promise<void> {
  const { output } = context;
  needWord(context, 1, 'id of the approval');
  const word = needWord(context, 2, 'answer');
  const given = ANSWERS.find((one) => one === word);
  if (given === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is not one of ${ANSWERS.join(', ')}.`, {
      hint: 'once: this call; session: until the daemon ends; always: from now on; deny: not at all.',
    });
  const id = await wholeId(context, client);
  await send(client, id, given).catch((error: unknown) => {
    throw isGone(error) ? notWaiting(id, error) : error;
  });
  if (output.json) output.data({ id, answer: given });
  else output.line(answerWords(given, SESSION));
}

/** Shorter is not worth a second look: nobody would see that another one is meant. */
const SHORTEST_ID = 4;

/** The id, or the one that begins like this; as it is written where none does. */
async function wholeId(context: CommandContext, client: DaemonClient): Promise<string> {
  const typed = needWord(context, 1, 'id of the approval');
  if (typed.length < SHORTEST_ID || typed.length >= WHOLE_ID) return typed;
  const ids = (await pendingApprovals(client, context.signal)).map(({ id }) => id);
  const [found, ...more] = ids.filter((id) => id.startsWith(typed));
  if (found === undefined || ids.includes(typed)) return typed;
  if (more.length === 0) return found;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Several calls that wait have an id like "${typed}".`, {
    hint: 'Write more of it. What waits now: turnbuckle approvals',
  });
}

/** Of a UUID. */
const WHOLE_ID = 36;

const send = (client: DaemonClient, id: string, word: string): Promise<unknown> =>
  client.post(`/api/approvals/${encodeURIComponent(id)}`, { answer: word });

const isGone = (error: unknown): error is TurnbuckleError =>
  error instanceof TurnbuckleError && error.code === 'PATH_UNKNOWN';

const notWaiting = (id: string, cause?: TurnbuckleError): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `No call waits for approval with the id "${id}".`, {
    cause,
    hint: `${id.length < SHORTEST_ID ? `Write at least ${SHORTEST_ID} signs of the id.` : 'It was answered, or its time is over.'} What waits now: turnbuckle approvals`,
  });

const silent = ({ url }: DaemonClient, cause: NoAnswer): TurnbuckleError =>
  new TurnbuckleError('CONNECT_FAILED', `Nobody answers at ${url}: ${cause.message}.`, {
    cause,
    hint: 'That address is in MCP_BRIDGE_URL.',
  });

const noDaemon = (cause?: NoAnswer): TurnbuckleError =>
  new TurnbuckleError('CONNECT_FAILED', 'No daemon runs: nothing waits for an approval.', {
    cause,
    hint: 'Start one: turnbuckle serve start',
  });
