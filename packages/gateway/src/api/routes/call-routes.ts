/** The call log: search, statistics and replay. */
import {
  CALL_COLUMNS,
  CONTENT_COLUMNS,
  type LogName,
  searchFault,
  type VisibleName,
} from '@turnbuckle/store';
import type { Runtime } from 'turnbuckle';
import { inSlices, type Steps } from 'turnbuckle/host';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import type { FairQueue } from '../../http/limits/fair-queue.js';
import type { RequestContext } from '../../http/request-context.js';
import { EMPTY_OBJECT, invalidInput, readOptionalJson, readQuery } from '../../http/validate.js';
import { requireLog } from '../log-access.js';
import { replay } from '../replay.js';
import { LOGGED_CALL, type LoggedCall, STATS, toApiRow, toLoggedCall } from '../shapes/logged-call.js';
import { notFound } from '../shapes/not-found.js';
import { TIME } from '../shapes/time-query.js';
import { type Visibility, type VisibilityTarget, visibilityOf, wasFound } from '../visibility.js';
import type { ApiDependencies, CallQueries } from './api-dependencies.js';

const CALLS_QUERY = z.strictObject({
  /** Words that must all occur in names, arguments, result or error. */
  search: z.optional(z.string()),
  server: z.optional(z.string()),
  tool: z.optional(z.string()),
  caller: z.optional(z.string()),
  run: z.optional(z.string()),
  /** Alias of `run` for one release. */
  conversation: z.optional(z.string()).register(z.globalRegistry, {
    description: 'Deprecated alias of "run". Use "run" instead.',
    deprecated: true,
  }),
  outcome: z.optional(z.enum(CALL_COLUMNS.outcome.values)),
  since: z.optional(TIME),
  until: z.optional(TIME),
  /** The number of a call: only older ones, for the next page. */
  before: z.optional(z.coerce.number().check(z.int(), z.gte(1))),
  limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(1_000))),
});
const STATS_QUERY = z.strictObject({
  since: z.optional(TIME),
  order: z.optional(z.enum(['calls', 'slowest', 'failing'])),
  /** With it, calls are also counted in intervals of that many milliseconds. */
  spanMs: z.optional(z.coerce.number().check(z.int(), z.gte(1_000))),
});
const STATS_RESPONSE = z.object({
  tools: z.array(z.object({ ...STATS.shape, tool: z.string() })),
  servers: z.array(STATS),
  overTime: z.optional(
    z.array(z.object({ at: z.string(), calls: z.number(), failures: z.number(), meanMs: z.number() })),
  ),
});
const REPLAYED = z.object({
  success: z.boolean(),
  /** The id of the new call in the log. */
  id: z.string(),
  result: z.unknown(),
});
const DEFAULT_PAGE_SIZE = 50;
/** Long texts of callers and servers. */
const UNTRUSTED_COLUMNS = [...CONTENT_COLUMNS, 'error'] as const;
/** The most characters of arguments and results on one page, regardless of its limit in calls. */
const MAX_PAGE_CHARACTERS = 4 * 1_024 * 1_024;

/** What the call routes use. */
interface CallRouteOptions {
  readonly runtime: Runtime;
  readonly log: CallQueries | undefined;
  readonly queue: FairQueue;
}

export function createCallRoutes(
  { configured: { runtime }, log }: ApiDependencies,
  queue: FairQueue,
): readonly ApiRoute[] {
  const lookup = { runtime, log, queue };
  return [searchRoute(lookup), ...createLogRoutes(lookup), statsRoute(lookup)];
}

function createLogRoutes({ runtime, log, queue }: CallRouteOptions): readonly ApiRoute[] {
  const find = async (context: RequestContext): Promise<LoggedCall> => {
    const { id = '' } = context.parameters;
    const known = requireLog(log);
    const row = await queue.run(context.identity, () => known.get(id));
    const call = row && toLoggedCall(row);
    const seen = call && { ...call, wasFound: wasFound(call) };
    if (call !== undefined && seen !== undefined && visibilityOf(runtime, context).canSee(seen))
      return redactCall(call, runtime);
    throw notFound(`There is no call "${id}" in the log.`, 'List recent calls: GET /api/calls.');
  };
  return [
    {
      method: 'GET',
      path: '/api/calls/:id',
      access: 'read',
      summary: 'Get one call from the log',
      response: LOGGED_CALL,
      handle: find,
    },
    {
      method: 'POST',
      path: '/api/calls/:id/replay',
      access: 'admin',
      summary: 'Repeat a logged call with your own token; the rules are evaluated again',
      body: EMPTY_OBJECT,
      response: REPLAYED,
      handle: async (context) => {
        const call = await find(context);
        await readOptionalJson(context, EMPTY_OBJECT);
        return replay(call, runtime, context);
      },
    },
  ];
}

const searchRoute = ({ runtime, log, queue }: CallRouteOptions): ApiRoute => ({
  method: 'GET',
  path: '/api/calls',
  access: 'read',
  summary: 'Search the call log, newest first',
  query: CALLS_QUERY,
  response: z.object({ calls: z.array(LOGGED_CALL), next: z.optional(z.number()) }),
  handle: async (context) => {
    const {
      search,
      conversation,
      run = conversation,
      limit = DEFAULT_PAGE_SIZE,
      ...query
    } = readQuery(context, CALLS_QUERY);
    const fault = searchFault(search ?? '');
    if (fault !== undefined) throw invalidInput('query', [{ path: 'search', message: fault }]);
    const known = requireLog(log);
    return queue.run(context.identity, async () => {
      if (context.signal.aborted) return undefined;
      const visible = await visibleNames(known, visibilityOf(runtime, context));
      const rows = await known.find({ ...query, run, text: search, limit, visible });
      const all = rows.flatMap((row) => toLoggedCall(row) ?? []);
      const calls = firstPage(all);
      const isMore = calls.length < all.length || rows.length >= limit;
      const next = isMore ? calls.at(-1)?.number : undefined;
      return { calls: await inSlices(redactSteps(calls, runtime)), next };
    });
  },
});

const statsRoute = ({ runtime, log, queue }: CallRouteOptions): ApiRoute => ({
  method: 'GET',
  path: '/api/stats',
  access: 'read',
  summary: 'Show the number of calls and failures, and the durations, for each tool and each server',
  query: STATS_QUERY,
  response: STATS_RESPONSE,
  handle: async (context) => {
    const { since = 0, order = 'calls', spanMs } = readQuery(context, STATS_QUERY);
    const known = requireLog(log);
    return queue.run(context.identity, async () => {
      if (context.signal.aborted) return undefined;
      const visible = await visibleNames(known, visibilityOf(runtime, context));
      // One at a time: the owner's queries can run in between.
      const tools = await known.toolAnalytics(since, order, visible);
      const servers = await known.serverAnalytics(since, visible);
      const spans = spanMs === undefined ? undefined : await known.callsOverTime(since, spanMs, { visible });
      return { tools: tools.map(toApiRow), servers: servers.map(toApiRow), overTime: spans?.map(toApiRow) };
    });
  },
});

/**
 * The names that the query may look at. Filtering the result instead would reveal what is left out by gaps on a page, by
 * the number of the next page, and by totals.
 */
async function visibleNames(log: CallQueries, visibility: Visibility): Promise<VisibleName[] | undefined> {
  if (visibility.isUnrestricted) return undefined;
  const toSeen = (name: LogName): VisibilityTarget => ({ ...name, kind: toKind(name.kind) });
  const seen = await visibility.visibleOf(namesToDecide(await log.names(), visibility), toSeen);
  return seen.map((name) => ({ ...name, mustBeFound: !visibility.isListedTool(toSeen(name)) }));
}

/** From this many on, the log may have left some out. */
const MANY_NAMES = 5_000;

/** Anybody can put names into the log by calling what does not exist: they must not displace the tools that do. */
function namesToDecide(logged: readonly LogName[], visibility: Visibility): readonly LogName[] {
  if (logged.length < MANY_NAMES) return logged;
  const keyOf = ({ server, tool, kind }: LogName): string => JSON.stringify([server, tool, kind]);
  const named = [...logged, ...visibility.listedTools()].map((name) => [keyOf(name), name] as const);
  return [...new Map(named).values()];
}

const toKind = (kind: string): VisibilityTarget['kind'] =>
  kind === 'resource' || kind === 'prompt' ? kind : 'tool';

/** They were redacted when they were written, but new secrets may be known since. */
function redactCall(call: LoggedCall, runtime: Runtime): LoggedCall {
  const clean = (text: string | undefined): string | undefined => text && String(runtime.redact(text));
  return { ...call, ...Object.fromEntries(UNTRUSTED_COLUMNS.map((name) => [name, clean(call[name])])) };
}

/** Redacting a crafted call can take some milliseconds. */
function* redactSteps(calls: readonly LoggedCall[], runtime: Runtime): Steps<LoggedCall[]> {
  const clean: LoggedCall[] = [];
  for (const call of calls) {
    clean.push(redactCall(call, runtime));
    yield;
  }
  return clean;
}

/** The first calls, up to a number of characters; the others are on the next page. */
function firstPage(calls: readonly LoggedCall[]): readonly LoggedCall[] {
  let left = MAX_PAGE_CHARACTERS;
  const end = calls.findIndex((call) => {
    for (const name of UNTRUSTED_COLUMNS) left -= call[name]?.length ?? 0;
    return left < 0;
  });
  return end === -1 ? calls : calls.slice(0, Math.max(end, 1));
}
