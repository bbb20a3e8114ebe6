import type { RequestStatus, StewardMode } from '@turnbuckle/steward';
import { TurnbuckleError } from 'turnbuckle';
import { ERRORS } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { parseLimit } from '../command-line/parse-limit.js';
import { rejectExtraPositionals, requirePositional, suggestWord } from '../command-line/positionals.js';
import { resolveShortId, shortId } from '../command-line/short-id.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { answerInstall, fetchInstallApprovals, requireInstallApproval } from '../steward/answer-approval.js';
import { completeValues, valuesFromStdin, valuesFromWords } from '../steward/field-values.js';
import { errorOf, followRequest, untilLeft } from '../steward/follow-request.js';
import { asQuestion, asResult, showInstallApproval } from '../steward/install-approval-lines.js';
import { nextApproval } from '../steward/next-approval.js';
import {
  approveCommand,
  noteMode,
  noteWithoutDaemon,
  showRequest,
  showRequestResult,
  showRequests,
  stateText,
  statusCommand,
} from '../steward/request-lines.js';
import { parseParams, parseRequestKind } from '../steward/request-words.js';
import { requireSteward, throughSteward } from '../steward/steward-daemon.js';
import { type RequestDraft, type StewardRequests, withRequests } from '../steward/steward-requests.js';
import { showFullLine } from '../terminal/untrusted-text.js';

type Work = (context: CommandContext) => Promise<number | undefined>;

const MAX_LISTED = 500;

interface Subcommand {
  readonly run: Work;
  readonly most: number;
  /** The options of the command that it takes. */
  readonly options?: readonly string[];
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  request: { run: request, most: Number.POSITIVE_INFINITY, options: ['priority', 'wait'] },
  status: { run: status, most: 2 },
  list: { run: list, most: 1, options: ['limit'] },
  cancel: { run: cancel, most: Number.POSITIVE_INFINITY },
  pause: { run: (context) => switchMode(context, 'pause'), most: 1 },
  resume: { run: (context) => switchMode(context, 'resume'), most: 1 },
  start: { run: (context) => switchMode(context, 'start'), most: 1 },
  stop: { run: (context) => switchMode(context, 'stop'), most: 1 },
  approvals: { run: approvals, most: 1 },
  approve: { run: approve, most: Number.POSITIVE_INFINITY, options: ['secrets-stdin'] },
  refuse: { run: refuse, most: 2 },
};

export async function run(context: CommandContext): Promise<number | undefined> {
  const [word = 'list'] = context.positionals;
  const found = Object.hasOwn(SUBCOMMANDS, word) ? SUBCOMMANDS[word] : undefined;
  if (found === undefined) {
    const words = Object.keys(SUBCOMMANDS);
    const isClose = nearestWord(word, words) !== undefined;
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown subcommand "${word}".`, {
      hint: isClose ? suggestWord(context, word, words) : `Use one of: ${words.join(', ')}`,
    });
  }
  rejectExtraPositionals(context, found.most);
  rejectOtherOptions(context, word, found);
  return found.run(context);
}

/** An option that would be ignored. */
function rejectOtherOptions(
  { command, flags }: CommandContext,
  word: string,
  { options = [] }: Subcommand,
): void {
  const other = Object.keys(command.options).find(
    (name) => flags[name] !== undefined && !options.includes(name),
  );
  if (other === undefined) return;
  const takers = Object.entries(SUBCOMMANDS).flatMap(([name, one]) =>
    one.options?.includes(other) === true ? [name] : [],
  );
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--${other} cannot be used with "steward ${word}".`, {
    hint: `Use it with the subcommand ${takers.join(' or ')}.`,
  });
}

async function request(context: CommandContext): Promise<number | undefined> {
  const { output, flags, positionals } = context;
  const type = parseRequestKind(requirePositional(context, 1, 'kind of request'));
  const draft = { type, params: parseParams(type, positionals.slice(2)), priority: priorityOf(context) };
  return withRequests(context, async (requests) => {
    if (flags.wait === true && !requests.hasDaemon) throw cannotWait();
    const id = await requests.send(draft);
    if (flags.wait === true) return untilLeft(context, id, () => waitFor(context, requests, id));
    if (output.json) output.data({ requestId: id, hasDaemon: requests.hasDaemon });
    else output.line(id);
    if (!requests.hasDaemon) noteWithoutDaemon(output);
    noteMode(requests.mode, output);
    output.note(output.color.dim(`Check its status: ${statusCommand(id)}`));
    return 0;
  });
}

const cannotWait = (): TurnbuckleError =>
  new TurnbuckleError('CONNECT_FAILED', 'No daemon is running, so there is nothing to wait for.', {
    hint: 'Nothing was queued. Start the daemon: turnbuckle serve start',
  });

function priorityOf({ flags }: CommandContext): RequestDraft['priority'] {
  const { priority = 'medium' } = flags;
  if (priority === 'low' || priority === 'medium' || priority === 'high') return priority;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Invalid --priority "${String(priority)}".`, {
    hint: 'Use low, medium or high.',
  });
}

async function waitFor(context: CommandContext, requests: StewardRequests, id: string): Promise<number> {
  const { output } = context;
  noteMode(requests.mode, output);
  const announced = new Set<string>();
  const ended = await followRequest(context, { requests, id }, async ({ waitingFor }) => {
    const asked = waitingFor === 'approval' ? await nextApproval(requests, id, announced) : undefined;
    if (asked !== undefined)
      output.warn(
        `The request is waiting for your approval: ${showFullLine(asked.subject.summary)}\nIn another terminal, show the details: turnbuckle steward approvals\nThen approve the request: ${approveCommand(asked.id)}`,
      );
    return false;
  });
  const error = errorOf(ended);
  if (output.json) output.data(ended);
  else if (error !== undefined) throw error;
  else showRequestResult(ended, output);
  return error === undefined ? 0 : ERRORS[error.code].exit;
}

async function status(context: CommandContext): Promise<number> {
  const typed = requirePositional(context, 1, 'request id');
  return withRequests(context, async (requests) => {
    const found = await requests.status(await resolveRequestId(requests, typed));
    const { output } = context;
    if (output.json) output.data(found);
    else showRequest(found, output);
    if (found.waitingFor === 'approval')
      output.note('Show what needs your approval: turnbuckle steward approvals');
    if (!requests.hasDaemon && found.state !== 'completed') noteWithoutDaemon(output);
    return 0;
  });
}

const resolveRequestId = (requests: StewardRequests, typed: string): Promise<string> =>
  resolveShortId(typed, async () =>
    (await requests.list({ limit: MAX_LISTED })).map(({ requestId }) => requestId),
  );

async function list(context: CommandContext): Promise<number> {
  const { output, flags } = context;
  const limit = Math.min(parseLimit(flags.limit), MAX_LISTED);
  return withRequests(context, async (requests) => {
    const all = await requests.list({ limit: Math.min(limit + 1, MAX_LISTED) });
    const found = all.slice(0, limit);
    if (output.json) output.data({ requests: found, hasDaemon: requests.hasDaemon, ...requests.mode });
    else if (found.length === 0)
      output.note('No requests. Request a server: turnbuckle steward request add <purpose>');
    else showRequests(found, output);
    if (found.length < all.length)
      output.note(`Older requests are not shown. To show more, increase --limit (now ${limit}).`);
    if (!requests.hasDaemon) noteWithoutDaemon(output);
    noteMode(requests.mode, output);
    return 0;
  });
}

async function cancel(context: CommandContext): Promise<number> {
  const { output, positionals } = context;
  const typed = requirePositional(context, 1, 'request id');
  const reason = positionals.slice(2).join(' ') || 'cancelled on the command line';
  return withRequests(context, async (requests) => {
    const id = await resolveRequestId(requests, typed);
    const before = await requests.status(id);
    const cancelled = await requests.cancel(id, reason);
    if (output.json) output.data(cancelled);
    else output.line(cancelText(cancelled, before));
    if (!requests.hasDaemon && cancelled.state === 'in_progress') noteWithoutDaemon(output);
    return 0;
  });
}

function cancelText(request: RequestStatus, before: RequestStatus): string {
  const id = shortId(request.requestId);
  if (before.state === 'cancelled') return `${id} was already cancelled. ${showFullLine(before.message)}`;
  if (request.state === 'cancelled') return `Cancelled ${id}`;
  if (request.state === 'in_progress') return `Cancelling ${id} and undoing its changes.`;
  return `${id} had already finished (${stateText(request)}).`;
}

const MODE_TEXTS = {
  pause: 'The steward is paused. To resume it and repeat interrupted steps: turnbuckle steward resume',
  resume: 'The steward has resumed.',
  start: 'The steward has started.',
  stop: 'The steward is stopped. Start it again: turnbuckle steward start',
} as const;

/** What was switched on does not go on while it is also switched off in the other way. */
function modeText(mode: keyof typeof MODE_TEXTS, { paused, stopped }: StewardMode): string {
  if (mode === 'resume' && stopped) return 'The steward is no longer paused.';
  if (mode === 'start' && paused) return 'The steward is no longer stopped.';
  return MODE_TEXTS[mode];
}

async function switchMode(context: CommandContext, mode: keyof typeof MODE_TEXTS): Promise<number> {
  return withSteward(context, async (client) => {
    const { output, signal } = context;
    const now = await client.post<StewardMode>(`/api/steward/${mode}`, {}, { signal });
    if (output.json) output.data(now);
    else output.line(output.rewriteCommands(modeText(mode, now)));
    noteMode({ paused: now.paused && mode !== 'pause', stopped: now.stopped && mode !== 'stop' }, output);
    return 0;
  });
}

async function withSteward(
  context: CommandContext,
  work: (client: DaemonClient) => Promise<number>,
): Promise<number> {
  const { client } = await requireSteward(
    context,
    'No daemon is running, and the steward is part of the daemon.',
  );
  return throughSteward(context, client, () => work(client));
}

async function approvals(context: CommandContext): Promise<number> {
  return withSteward(context, async (client) => {
    const { output } = context;
    const pending = await fetchInstallApprovals(client, context);
    if (output.json) output.data(pending);
    else if (pending.length === 0) output.note('No pending install approvals.');
    else {
      for (const asked of pending) showInstallApproval(asked, asResult(output));
      output.note(
        output.color.dim('Approve: turnbuckle steward approve <id>\nRefuse: turnbuckle steward refuse <id>'),
      );
    }
    return 0;
  });
}

async function approve(context: CommandContext): Promise<number> {
  const { output, flags, positionals } = context;
  const typed = requirePositional(context, 1, 'approval id');
  return withSteward(context, async (client) => {
    const approval = await requireInstallApproval(client, context, typed);
    const { id, fields, subject, requestId } = approval;
    const plain = valuesFromWords(fields, positionals.slice(2));
    const read = flags['secrets-stdin'] === true ? await valuesFromStdin(fields) : {};
    if (output.interactive) showInstallApproval(approval, asQuestion(output));
    const values = await completeValues(context, { approval, given: { ...plain, ...read }, all: false });
    await answerInstall(client, id, { answer: 'yes', values });
    if (output.json) output.data({ id, requestId, answer: 'yes' });
    else output.line(`Approved: ${showFullLine(subject.summary)}`);
    output.note(output.color.dim(`Check its status: ${statusCommand(requestId)}`));
    return 0;
  });
}

async function refuse(context: CommandContext): Promise<number> {
  const { output } = context;
  const typed = requirePositional(context, 1, 'approval id');
  return withSteward(context, async (client) => {
    const { id, requestId, subject } = await requireInstallApproval(client, context, typed);
    await answerInstall(client, id, { answer: 'no' });
    if (output.json) output.data({ id, requestId, answer: 'no' });
    else output.line(`Refused: ${showFullLine(subject.summary)}`);
    return 0;
  });
}
