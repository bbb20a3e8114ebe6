import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalAnswer, ApprovalRequest, Approve } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import {
  alsoSentLines,
  annotationLine,
  answerText,
  argumentLines,
  changeLines,
  factLines,
  titleOf,
  truncationLines,
  wrapIndented,
} from '../approvals/approval-lines.js';
import type { CommandContext } from '../command.js';
import { rejectExtraPositionals, requirePositional, suggestWord } from '../command-line/positionals.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { findDaemonEndpoint, withConfigWarnings } from '../daemon/daemon-endpoint.js';
import { NoResponseError } from '../daemon/http/send-request.js';
import { abortWhenSettled, fetchPendingApprovals } from '../daemon/pending-approvals.js';
import type { Output } from '../terminal/output.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { escapeHidden, showLine, showMessage } from '../terminal/untrusted-text.js';

const ANSWERS: readonly ApprovalAnswer[] = ['once', 'session', 'always', 'deny'];
const POLL_MS = 500;
const DEFAULT_WIDTH = 100;
/** The caller of calls with the owner's token. */
const HOST = 'The owner';
const SESSION = 'the daemon';

export async function run(context: CommandContext): Promise<void> {
  const [word = 'list'] = context.positionals;
  const work = { list, show: showOne, watch, answer }[word];
  if (work === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown subcommand "${word}".`, {
      hint: suggestWord(context, word, ['list', 'show', 'watch', 'answer']),
    });
  rejectExtraPositionals(context, word === 'answer' ? 3 : word === 'show' ? 2 : 1);
  // Flags that make other commands do without the daemon mean nothing here: approvals are its own.
  const attachment = findDaemonEndpoint({ ...context, flags: {} });
  if (attachment === undefined) throw noDaemonError();
  const { client, isExplicit } = attachment;
  await withConfigWarnings(context, client, () => work(context, client)).catch((error: unknown) => {
    if (!(error instanceof NoResponseError)) throw error;
    throw isExplicit ? unreachableError(client, error) : noDaemonError(error);
  });
}

async function list(context: CommandContext, client: DaemonClient): Promise<void> {
  const { output, signal } = context;
  const approvals = await fetchPendingApprovals(client, signal);
  if (output.json) return output.data(approvals);
  await mentionInstallApprovals(context, client);
  if (approvals.length === 0) return output.note('No pending approvals.');
  for (const asked of approvals) show(asked, output);
  output.note(output.color.dim('Allow a call: turnbuckle approvals answer <id> once'));
  if (approvals.some(({ isCut }) => isCut === true))
    output.note(output.color.dim('Show a call in full: turnbuckle approvals show <id> --full'));
}

/** Not the subject of this command: a daemon that does not tell is no problem. */
async function mentionInstallApprovals(
  { output, signal }: CommandContext,
  client: DaemonClient,
): Promise<void> {
  const { pendingApprovals: count = 0 } = await client
    .get<{ readonly pendingApprovals?: number }>('/api/steward', { signal })
    .catch(() => ({ pendingApprovals: 0 }));
  if (!(count > 0)) return;
  const what = count === 1 ? '1 install approval is pending' : `${count} install approvals are pending`;
  output.note(`${what}. Show the details: turnbuckle steward approvals`);
}

/** With --full all that would be sent, however long. */
async function showOne(context: CommandContext, client: DaemonClient): Promise<void> {
  const { output, signal, flags } = context;
  const id = await resolveId(context, client);
  const asked =
    flags.full === true
      ? await client
          .get<ApprovalRequest>(`/api/approvals/${encodeURIComponent(id)}`)
          .catch((error: unknown) => {
            throw isNotFound(error) ? notPendingError(id, error) : error;
          })
      : (await fetchPendingApprovals(client, signal)).find((one) => one.id === id);
  if (asked === undefined) throw notPendingError(id);
  if (output.json) return output.data(asked);
  show(asked, output);
  if (asked.isCut === true && flags.full !== true)
    output.note(
      output.color.dim(
        `Show the call in full: turnbuckle approvals show ${shellQuote(showLine(id, 60))} --full`,
      ),
    );
}

/** The same as the terminal prompt, with the available answers. */
function show(asked: ApprovalRequest, output: Output): void {
  const { color } = output;
  const width = Number.isFinite(output.width) ? output.width - 1 : DEFAULT_WIDTH;
  const id = showLine(asked.id, 60);
  const change = changeLines(asked, width);
  const [first = '', ...others] = wrapIndented(`${id}  ${titleOf(asked, HOST)}`, width, 4);
  output.line(color.bold(first.slice(0, id.length)) + first.slice(id.length));
  for (const line of [...others, ...factLines(asked, width), ...annotationLine(asked)]) output.line(line);
  if (change.length > 0) output.line('  changed since the tool was approved');
  for (const line of [...change, ...argumentLines(asked, width)]) output.line(line);
  const also = alsoSentLines(asked, width);
  if (also.length > 0) output.line('  also sent');
  for (const line of also) output.line(line);
  for (const line of truncationLines(asked, width)) output.line(color.yellow(line));
  const until = formatTimestamp(Date.parse(asked.expiresAt));
  output.line(color.dim(`  until        ${until}; answers: ${showLine(asked.answers.join(', '))}`));
}

/** Prompts one at a time; skips what is answered elsewhere. */
async function watch(context: CommandContext, client: DaemonClient): Promise<void> {
  const { output, signal } = context;
  const approve = output.interactive ? await createApprover(context) : undefined;
  const seen = new Set<string>();
  output.note(output.color.dim('Waiting for approval requests. Press Ctrl-C to stop.'));
  for (; ; await delay(POLL_MS, undefined, { signal })) {
    for (const asked of await fetchPendingApprovals(client, signal)) {
      if (seen.has(asked.id)) continue;
      seen.add(asked.id);
      if (approve !== undefined) await promptForApproval(context, client, { asked, approve });
      else if (output.json) output.line(escapeHidden(JSON.stringify(asked)));
      else show(asked, output);
    }
  }
}

async function createApprover(context: CommandContext): Promise<Approve> {
  const { createTerminalApprover } = await import('../approvals/approve-in-terminal.js');
  return createTerminalApprover(context, SESSION, HOST);
}

async function promptForApproval(
  { output, signal }: CommandContext,
  client: DaemonClient,
  { asked, approve }: { readonly asked: ApprovalRequest; readonly approve: Approve },
): Promise<void> {
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const looking = abortWhenSettled(client, asked, over);
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
  requirePositional(context, 1, 'approval id');
  const word = requirePositional(context, 2, 'answer');
  const given = ANSWERS.find((one) => one === word);
  if (given === undefined)
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `Invalid answer "${word}": expected "once", "session", "always" or "deny".`,
      {
        hint: '"once" allows only this call, "session" also allows later calls until the daemon stops, "always" allows all later calls, and "deny" rejects this call.',
      },
    );
  const id = await resolveId(context, client);
  await send(client, id, given).catch((error: unknown) => {
    throw isNotFound(error) ? notPendingError(id, error) : error;
  });
  if (output.json) output.data({ id, answer: given });
  else output.line(answerText(given, SESSION));
}

/** A shorter prefix could match another call unnoticed. */
const MIN_ID_LENGTH = 4;

/** The id, or the one that begins like this; as it is written where none does. */
async function resolveId(context: CommandContext, client: DaemonClient): Promise<string> {
  const typed = requirePositional(context, 1, 'approval id');
  if (typed.length < MIN_ID_LENGTH || typed.length >= FULL_ID_LENGTH) return typed;
  const ids = (await fetchPendingApprovals(client, context.signal)).map(({ id }) => id);
  const [found, ...more] = ids.filter((id) => id.startsWith(typed));
  if (found === undefined || ids.includes(typed)) return typed;
  if (more.length === 0) return found;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Approval id "${typed}" is ambiguous.`, {
    hint: 'Enter more characters of the id. List pending approvals: turnbuckle approvals',
  });
}

/** Of a UUID. */
const FULL_ID_LENGTH = 36;

const send = (client: DaemonClient, id: string, word: string): Promise<unknown> =>
  client.post(`/api/approvals/${encodeURIComponent(id)}`, { answer: word });

const isNotFound = (error: unknown): error is TurnbuckleError =>
  error instanceof TurnbuckleError && error.code === 'PATH_UNKNOWN';

const notPendingError = (id: string, cause?: TurnbuckleError): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `No pending approval with id "${id}".`, {
    cause,
    hint: `${id.length < MIN_ID_LENGTH ? `Enter at least ${MIN_ID_LENGTH} characters of the id.` : 'It may have been answered, or have timed out.'} List pending approvals: turnbuckle approvals`,
  });

const unreachableError = ({ url }: DaemonClient, cause: NoResponseError): TurnbuckleError =>
  new TurnbuckleError('CONNECT_FAILED', `No response from ${url}: ${cause.message}.`, {
    cause,
    hint: 'Check MCP_BRIDGE_URL.',
  });

const noDaemonError = (cause?: NoResponseError): TurnbuckleError =>
  new TurnbuckleError('CONNECT_FAILED', 'No daemon is running, so there are no pending approvals.', {
    cause,
    hint: 'Start the daemon: turnbuckle serve start',
  });
