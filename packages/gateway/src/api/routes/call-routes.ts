/** The log of calls: searched, counted, and called again. */
import { type LogName, searchFault, type VisibleName } from '@turnbuckle/store';
import { inSlices, type Runtime, type Steps } from 'turnbuckle';
import * as z from 'zod/mini';
import { SharedTurns } from '../http/shared-turns.js';
import type { Visit } from '../http/visit.js';
import type { ApiParts, CallQueries } from './api-parts.js';
import type { ApiRoute } from './api-route.js';
import { misfit, NOTHING, readBody, readQuery } from './fit.js';
import { LOGGED_CALL, type LoggedCall, STATS, toEntry, toLoggedCall } from './logged-call.js';
import { notThere } from './not-there.js';
import { replay } from './replay.js';
import { type Seen, type Sight, sightOf, wasFound } from './sight.js';

const toTime = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text));
const TIME = z.pipe(
  z
    .string()
    .check(
      z.refine(
        (text) => Number.isFinite(toTime(text)),
        'a time such as 2026-01-31T12:00:00Z, or milliseconds since 1970',
      ),
    ),
  z.transform(toTime),
);
const CALLS_QUERY = z.strictObject({
  /** Words that must all occur in names, arguments, result or error. */
  search: z.optional(z.string()),
  server: z.optional(z.string()),
  tool: z.optional(z.string()),
  caller: z.optional(z.string()),
  conversation: z.optional(z.string()),
  outcome: z.optional(z.enum(['ok', 'tool-error', 'failed'])),
  since: z.optional(TIME),
  until: z.optional(TIME),
  /** The number of a call: only those before it, for the next page. */
  before: z.optional(z.coerce.number().check(z.int(), z.gte(1))),
  limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(1_000))),
});
const STATS_QUERY = z.strictObject({
  since: z.optional(TIME),
  order: z.optional(z.enum(['calls', 'slowest', 'failing'])),
  /** With it, calls are also counted in spans of that many milliseconds. */
  spanMs: z.optional(z.coerce.number().check(z.int(), z.gte(1_000))),
});
const STATS_ANSWER = z.object({
  tools: z.array(z.object({ ...STATS.shape, tool: z.string() })),
  servers: z.array(STATS),
  overTime: z.optional(
    z.array(z.object({ at: z.string(), calls: z.number(), failures: z.number(), meanMs: z.number() })),
  ),
});
const REPLAYED = z.object({
  success: z.boolean(),
  /** Of the new call in the log. */
  id: z.string(),
  result: z.unknown(),
});
const PAGE = 50;
/** Of what calls carried, so many characters are told on one page, whatever its limit in calls. */
const MAX_PAGE = 4 * 1_024 * 1_024;
/** Pages of the owner that are made at once: each is in memory several times. */
const AT_ONCE = 4;
/** Of all others. One thread answers them one after the other, and the owner waits for the one that it is at. */
const MAX_WAITING = 64;

/** Where the routes of calls look things up. */
interface Lookup {
  readonly runtime: Runtime;
  readonly log: CallQueries | undefined;
  readonly turns: SharedTurns;
}

export function createCallRoutes({ configured: { runtime }, log }: ApiParts): readonly ApiRoute[] {
  const turns = new SharedTurns({
    what: 'questions to the log',
    max: MAX_WAITING,
    ownAtOnce: AT_ONCE,
  });
  const lookup = { runtime, log, turns };
  return [...createLogRoutes(lookup), statsRoute(lookup)];
}

function createLogRoutes({ runtime, log, turns }: Lookup): readonly ApiRoute[] {
  const find = async (visit: Visit): Promise<LoggedCall> => {
    const { id = '' } = visit.parameters;
    const known = requireLog(log);
    const row = await turns.take(visit.visitor, () => known.get(id));
    const call = row && toLoggedCall(row);
    const seen = call && { ...call, wasFound: wasFound(call) };
    if (call !== undefined && seen !== undefined && sightOf(runtime, visit).sees(seen))
      return redactCall(call, runtime);
    throw notThere(`There is no call "${id}" in the log.`, 'GET /api/calls lists the last ones.');
  };
  return [
    {
      method: 'GET',
      path: '/api/calls',
      access: 'look',
      summary: 'Calls of the log, the newest first',
      query: CALLS_QUERY,
      answer: z.object({ calls: z.array(LOGGED_CALL), next: z.optional(z.number()) }),
      handle: async (visit) => {
        const { search, limit = PAGE, ...query } = readQuery(visit, CALLS_QUERY);
        const fault = searchFault(search ?? '');
        if (fault !== undefined) throw misfit('query', [{ path: 'search', message: fault }]);
        const known = requireLog(log);
        return turns.take(visit.visitor, async () => {
          if (visit.signal.aborted) return undefined;
          const visible = await visibleIn(known, sightOf(runtime, visit));
          const rows = await known.find({ ...query, text: search, limit, visible });
          const all = rows.flatMap((row) => toLoggedCall(row) ?? []);
          const calls = onePage(all);
          const isMore = calls.length < all.length || rows.length >= limit;
          const next = isMore ? calls.at(-1)?.number : undefined;
          return { calls: await inSlices(redactSteps(calls, runtime)), next };
        });
      },
    },
    {
      method: 'GET',
      path: '/api/calls/:id',
      access: 'look',
      summary: 'One call of the log',
      answer: LOGGED_CALL,
      handle: find,
    },
    {
      method: 'POST',
      path: '/api/calls/:id/replay',
      access: 'manage',
      summary: 'Make a call of the log again, with your own token: it is decided anew',
      body: NOTHING,
      answer: REPLAYED,
      handle: async (visit) => {
        const call = await find(visit);
        await readBody(visit, NOTHING);
        return replay(call, runtime, visit);
      },
    },
  ];
}

const statsRoute = ({ runtime, log, turns }: Lookup): ApiRoute => ({
  method: 'GET',
  path: '/api/stats',
  access: 'look',
  summary: 'Counts, failures and durations of each tool and each server',
  query: STATS_QUERY,
  answer: STATS_ANSWER,
  handle: async (visit) => {
    const { since = 0, order = 'calls', spanMs } = readQuery(visit, STATS_QUERY);
    const known = requireLog(log);
    return turns.take(visit.visitor, async () => {
      if (visit.signal.aborted) return undefined;
      const visible = await visibleIn(known, sightOf(runtime, visit));
      // One after the other: the owner's can come between them.
      const tools = await known.toolAnalytics(since, order, visible);
      const servers = await known.serverAnalytics(since, visible);
      const spans = spanMs === undefined ? undefined : await known.callsOverTime(since, spanMs, { visible });
      return { tools: tools.map(toEntry), servers: servers.map(toEntry), overTime: spans?.map(toEntry) };
    });
  },
});

/**
 * What the query may look at. Filtered afterwards, what is left out would still be told by what is missing on a page, by
 * the number of the next one, and by sums.
 */
async function visibleIn(log: CallQueries, sight: Sight): Promise<VisibleName[] | undefined> {
  if (sight.isWhole) return undefined;
  const toSeen = (name: LogName): Seen => ({ ...name, kind: toKind(name.kind) });
  const seen = await sight.seenOf(await log.names(), toSeen);
  return seen.map((name) => ({ ...name, mustBeFound: !sight.lists(toSeen(name)) }));
}

const toKind = (kind: string): Seen['kind'] => (kind === 'resource' || kind === 'prompt' ? kind : 'tool');

function requireLog(log: CallQueries | undefined): CallQueries {
  if (log !== undefined) return log;
  throw notThere(
    'Calls are not logged here.',
    'Switch the log on in your configuration: daemon.log.enabled.',
  );
}

/** They were redacted when they were written; what is a secret may have been learned since. */
function redactCall(call: LoggedCall, runtime: Runtime): LoggedCall {
  const clean = (text: string | undefined): string | undefined => text && String(runtime.redact(text));
  return { ...call, arguments: clean(call.arguments), result: clean(call.result), error: clean(call.error) };
}

/** One call takes some milliseconds where it was made to. */
function* redactSteps(calls: readonly LoggedCall[], runtime: Runtime): Steps<LoggedCall[]> {
  const clean: LoggedCall[] = [];
  for (const call of calls) {
    clean.push(redactCall(call, runtime));
    yield;
  }
  return clean;
}

/** The first of them, up to so many characters; the others are on the next page. */
function onePage(calls: readonly LoggedCall[]): readonly LoggedCall[] {
  let left = MAX_PAGE;
  const end = calls.findIndex(({ arguments: args = '', result = '', error = '' }) => {
    left -= args.length + result.length + error.length;
    return left < 0;
  });
  return end === -1 ? calls : calls.slice(0, Math.max(end, 1));
}
