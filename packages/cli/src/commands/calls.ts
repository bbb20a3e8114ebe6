import { setTimeout as delay } from 'node:timers/promises';
import { type LogFilter, type LogReader, searchFault } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { parseLimit } from '../command-line/parse-limit.js';
import { rejectExtraPositionals, requirePositional } from '../command-line/positionals.js';
import { LOG_HEADER, logRow, logTableOptions, showLoggedCall } from '../history/log-lines.js';
import { type LoggedCall, toLoggedCall } from '../history/logged-call.js';
import { NOTHING_LOGGED, withLog } from '../history/open-log.js';
import { growingTable } from '../terminal/text-table.js';
import { parseSince } from '../terminal/time-format.js';
import { escapeHidden } from '../terminal/untrusted-text.js';

const POLL_MS = 500;

export async function run(context: CommandContext): Promise<number | undefined> {
  const [word, ...surplus] = context.positionals;
  if (word === 'show') return void (await show(context));
  if (word === 'replay') return replay(context);
  if (word === undefined) return void (await list(context));
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown subcommand "${[word, ...surplus].join(' ')}".`, {
    hint: 'To search for calls, use --search "words". To show one call: turnbuckle calls show <id>',
  });
}

async function list(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  const filter = parseFilter(context);
  const print = createPrinter(context);
  const last = await withLog(context, (log) => {
    const calls = (log?.find(filter) ?? []).map(toLoggedCall).reverse();
    if (output.json && flags.follow !== true) output.data(calls);
    else print(calls);
    if (log === undefined) output.note(NOTHING_LOGGED);
    else if (calls.length === 0 && flags.follow !== true) output.note('No matching calls.');
    return calls.at(-1)?.number ?? 0;
  });
  if (flags.follow === true) await follow(context, { filter, last, print });
}

type Print = (calls: readonly LoggedCall[]) => void;

/** One line for each call; what comes later is in the same columns. */
function createPrinter({ output }: CommandContext): Print {
  if (output.json)
    return (calls) => {
      for (const call of calls) output.line(escapeHidden(JSON.stringify(call)));
    };
  const table = growingTable(logTableOptions(output));
  let isHeadDue = Number.isFinite(output.width);
  return (calls) => {
    const head = isHeadDue && calls.length > 0 ? [LOG_HEADER.map((word) => output.color.dim(word))] : [];
    isHeadDue &&= calls.length === 0;
    for (const line of table([...head, ...calls.map((call) => logRow(call, output))])) output.line(line);
  };
}

interface FollowOptions {
  readonly filter: LogFilter;
  /** The number of the call that was printed last. */
  readonly last: number;
  readonly print: Print;
}

/** Prints calls as they come, until it is interrupted. */
async function follow(context: CommandContext, { filter, last, print }: FollowOptions): Promise<never> {
  const { output, signal } = context;
  output.note(output.color.dim('Waiting for calls. Press Ctrl-C to stop.'));
  let after = last;
  for (;;) {
    await delay(POLL_MS, undefined, { signal });
    const calls = await withLog(context, (log) => callsAfter(log, { ...filter, after }));
    print(calls);
    after = calls.at(-1)?.number ?? after;
  }
}

const callsAfter = (log: LogReader | undefined, filter: LogFilter): LoggedCall[] =>
  (log?.find({ ...filter, limit: 1_000 }) ?? []).map(toLoggedCall);

function parseFilter({ flags }: CommandContext): LogFilter {
  const text = (name: string): string | undefined => {
    const value = flags[name];
    return typeof value === 'string' ? value : undefined;
  };
  const since = text('since');
  if (text('search')?.trim() === '')
    throw new TurnbuckleError('ARGUMENTS_INVALID', '--search is empty.', {
      hint: 'For example --search "invoice 2231"',
    });
  const fault = searchFault(text('search') ?? '');
  if (fault !== undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Invalid --search: ${fault}.`, {
      hint: 'Search for fewer words; a call must contain all of them.',
    });
  return {
    server: text('server'),
    tool: text('tool'),
    caller: text('caller'),
    text: text('search'),
    failed: flags.failed === true ? true : undefined,
    since: since === undefined ? undefined : parseSince(since, Date.now()),
    limit: parseLimit(flags.limit),
  };
}

async function show(context: CommandContext): Promise<void> {
  const call = await findCall(context);
  if (context.output.json) context.output.data(call);
  else showLoggedCall(call, context.output);
}

async function replay(context: CommandContext): Promise<number> {
  const call = await findCall(context);
  const [{ toReplayContext }, { run: makeCall }] = await Promise.all([
    import('../history/replay-call.js'),
    import('./call.js'),
  ]);
  return makeCall(toReplayContext(context, call));
}

async function findCall(context: CommandContext): Promise<LoggedCall> {
  const id = requirePositional(context, 1, 'call id');
  rejectExtraPositionals(context, 2);
  const row = await withLog(context, (log) => log?.get(id));
  if (row !== undefined) return toLoggedCall(row);
  throw new TurnbuckleError('ARGUMENTS_INVALID', `No call "${id}" in the call history.`, {
    hint: 'Old calls are deleted automatically. List calls with their ids: turnbuckle calls',
  });
}
