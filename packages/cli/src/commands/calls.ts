import { setTimeout as delay } from 'node:timers/promises';
import { type LogFilter, type LogReader, searchFault } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { LOG_HEAD, logRow, logTable, showLoggedCall } from '../log-lines.js';
import { type LoggedCall, toLoggedCall } from '../logged-call.js';
import { NOTHING_LOGGED, withLog } from '../open-log.js';
import { growingTable } from '../text-table.js';
import { readSince } from '../time-words.js';
import { escapeHidden } from '../untrusted-text.js';
import { needWord, refuseSurplus } from '../words.js';

const DEFAULT_LIMIT = 20;
const POLL_MS = 500;

export async function run(context: CommandContext): Promise<number | undefined> {
  const [word, ...surplus] = context.words;
  if (word === 'show') return void (await show(context));
  if (word === 'replay') return replay(context);
  if (word === undefined) return void (await list(context));
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `"${[word, ...surplus].join(' ')}" is neither show nor replay.`,
    {
      hint: 'To look for words: turnbuckle log --search "words". One call: turnbuckle log show <id>',
    },
  );
}

async function list(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  const filter = filterOf(context);
  const print = printerOf(context);
  const last = await withLog(context, (log) => {
    const calls = (log?.find(filter) ?? []).map(toLoggedCall).reverse();
    if (output.json && flags.follow !== true) output.data(calls);
    else print(calls);
    if (log === undefined) output.note(NOTHING_LOGGED);
    else if (calls.length === 0 && flags.follow !== true) output.note('No call in the log is like that.');
    return calls.at(-1)?.number ?? 0;
  });
  if (flags.follow === true) await follow(context, { filter, last, print });
}

type Print = (calls: readonly LoggedCall[]) => void;

/** One line for each call; what comes later is in the same columns. */
function printerOf({ output }: CommandContext): Print {
  if (output.json)
    return (calls) => {
      for (const call of calls) output.line(escapeHidden(JSON.stringify(call)));
    };
  const table = growingTable(logTable(output));
  let isHeadDue = Number.isFinite(output.width);
  return (calls) => {
    const head = isHeadDue && calls.length > 0 ? [LOG_HEAD.map((word) => output.color.dim(word))] : [];
    isHeadDue &&= calls.length === 0;
    for (const line of table([...head, ...calls.map((call) => logRow(call, output))])) output.line(line);
  };
}

interface Following {
  readonly filter: LogFilter;
  /** The number of the call that was printed last. */
  readonly last: number;
  readonly print: Print;
}

/** Prints calls as they come, until it is interrupted. */
async function follow(context: CommandContext, { filter, last, print }: Following): Promise<never> {
  const { output, signal } = context;
  output.note(output.color.dim('Waiting for calls. Ctrl-C ends it.'));
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

function filterOf({ flags }: CommandContext): LogFilter {
  const text = (name: string): string | undefined => {
    const value = flags[name];
    return typeof value === 'string' ? value : undefined;
  };
  const since = text('since');
  if (text('search')?.trim() === '')
    throw new TurnbuckleError('ARGUMENTS_INVALID', '--search has no words to look for.', {
      hint: 'For example --search "invoice 2231"',
    });
  const fault = searchFault(text('search') ?? '');
  if (fault !== undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `--search cannot be used: ${fault}.`, {
      hint: 'Look for fewer words: all of them have to be there.',
    });
  return {
    server: text('server'),
    tool: text('tool'),
    caller: text('caller'),
    text: text('search'),
    failed: flags.failed === true ? true : undefined,
    since: since === undefined ? undefined : readSince(since, Date.now()),
    limit: limitOf(text('limit')),
  };
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0 && limit <= 1_000) return limit;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--limit "${text}" is not a number from 1 to 1000.`, {
    hint: 'For example --limit 100',
  });
}

async function show(context: CommandContext): Promise<void> {
  const call = await find(context);
  if (context.output.json) context.output.data(call);
  else showLoggedCall(call, context.output);
}

async function replay(context: CommandContext): Promise<number> {
  const call = await find(context);
  const { replayCall } = await import('../replay-call.js');
  return replayCall(context, call);
}

async function find(context: CommandContext): Promise<LoggedCall> {
  const id = needWord(context, 1, 'id of the call');
  refuseSurplus(context, 2);
  const row = await withLog(context, (log) => log?.get(id));
  if (row !== undefined) return toLoggedCall(row);
  throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no call "${id}" in the log.`, {
    hint: 'turnbuckle log lists calls with their ids. Old ones are forgotten.',
  });
}
