import { setTimeout as delay } from 'node:timers/promises';
import type { LogFilter, LogReader } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { logRow, showLoggedCall } from '../log-lines.js';
import { type LoggedCall, toLoggedCall } from '../logged-call.js';
import { NOTHING_LOGGED, withLog } from '../open-log.js';
import { textTable } from '../text-table.js';
import { readSince } from '../time-words.js';
import { escapeHidden } from '../untrusted-text.js';
import { needWord } from '../words.js';

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
  const last = await withLog(context, (log) => {
    const calls = (log?.find(filter) ?? []).map(toLoggedCall).reverse();
    if (flags.follow === true) for (const call of calls) printOne(context, call);
    else if (output.json) output.data(calls);
    else
      for (const line of textTable(
        calls.map((call) => logRow(call, output)),
        output,
      ))
        output.line(line);
    if (log === undefined) output.note(NOTHING_LOGGED);
    else if (calls.length === 0 && flags.follow !== true) output.note('No call in the log is like that.');
    return calls.at(-1)?.number ?? 0;
  });
  if (flags.follow === true) await follow(context, filter, last);
}

/** Prints calls as they come, until it is interrupted. */
async function follow(context: CommandContext, filter: LogFilter, last: number): Promise<never> {
  let after = last;
  for (;;) {
    await delay(POLL_MS, undefined, { signal: context.signal });
    after = await withLog(context, (log) => printAfter(context, { log, filter, after }));
  }
}

function printAfter(
  context: CommandContext,
  { log, filter, after }: { log: LogReader | undefined; filter: LogFilter; after: number },
): number {
  const calls = (log?.find({ ...filter, after, limit: 1_000 }) ?? []).map(toLoggedCall);
  for (const call of calls) printOne(context, call);
  return calls.at(-1)?.number ?? after;
}

function printOne({ output }: CommandContext, call: LoggedCall): void {
  if (output.json) output.line(escapeHidden(JSON.stringify(call)));
  else for (const line of textTable([logRow(call, output)], output)) output.line(line);
}

function filterOf({ flags }: CommandContext): LogFilter {
  const text = (name: string): string | undefined => {
    const value = flags[name];
    return typeof value === 'string' ? value : undefined;
  };
  const since = text('since');
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
  const surplus = context.words[2];
  if (surplus !== undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `"${surplus}" is one word too many.`, {
      hint: `usage: turnbuckle log ${context.command.arguments}`,
    });
  const row = await withLog(context, (log) => log?.get(id));
  if (row !== undefined) return toLoggedCall(row);
  throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no call "${id}" in the log.`, {
    hint: 'turnbuckle log lists calls with their ids. Old ones are forgotten.',
  });
}
