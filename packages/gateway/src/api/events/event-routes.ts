/** The event stream. */
import { TurnbuckleError } from 'turnbuckle';
import { identityOf } from 'turnbuckle/host';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { isWithinFairShare } from '../../http/limits/fair-share.js';
import type { RequestContext } from '../../http/request-context.js';
import { invalidInput, readQuery } from '../../http/validate.js';
import type { ApiDependencies } from '../routes/api-dependencies.js';
import { visibilityOf } from '../visibility.js';
import { EventFeed, type FeedOptions } from './event-feed.js';
import { EVENT_NAMES, parseEventNames } from './event-names.js';
import { type StreamLimits, sendEvents } from './event-reader.js';

/** For tests, and for hosts with other needs. */
export interface EventLimits extends Partial<StreamLimits>, Pick<FeedOptions, 'keep' | 'lingerMs'> {
  /** The most open streams (100): each takes one of the requests in progress. */
  readonly maxReaders?: number | undefined;
}

const QUERY = z.strictObject({
  /** Event names separated by commas, or prefixes such as `call.*`. */
  types: z.optional(z.string()),
});
const DEFAULTS: StreamLimits = { keepAliveMs: 15_000, maxUnsentBytes: 1_024 * 1_024 };
const MAX_READERS = 100;

/** The route of the stream. */
export function createEventRoutes(parts: ApiDependencies, limits: EventLimits = {}): readonly ApiRoute[] {
  const { runtime } = parts.configured;
  const { keep, lingerMs, maxReaders = MAX_READERS, ...given } = limits;
  const { partEvents } = parts;
  const known = [...EVENT_NAMES, ...(partEvents?.names ?? [])];
  const feed = new EventFeed({
    runtime,
    parts: partEvents,
    epoch: parts.startedAt.toString(36),
    keep,
    lingerMs,
  });
  /** The identity of each open stream. */
  const readers: string[] = [];
  return [
    {
      method: 'GET',
      path: '/api/events',
      access: 'read',
      summary: `Stream events as server-sent events. Event names: ${known.join(', ')}`,
      query: QUERY,
      mediaType: 'text/event-stream',
      handle: (context) => {
        const names = namesOf(context, known);
        const { isOwner = false } = context.identity;
        const identity = identityOf(context.caller);
        const own = readers.filter((one) => one === identity).length;
        if (!isWithinFairShare({ own, taken: readers.length, max: maxReaders, isOwner }))
          throw tooManyReaders(maxReaders);
        readers.push(identity);
        context.response.once('close', () => readers.splice(readers.indexOf(identity), 1));
        sendEvents({
          context,
          feed,
          visibility: visibilityOf(runtime, context),
          names,
          limits: { ...DEFAULTS, ...given },
        });
      },
    },
  ];
}

function namesOf(context: RequestContext, known: readonly string[]): ReadonlySet<string> | undefined {
  const { types } = readQuery(context, QUERY);
  if (types === undefined) return undefined;
  const names = parseEventNames(types, known);
  if (names === undefined)
    throw invalidInput('query', [{ path: 'types', message: `expected one of ${known.join(', ')}` }]);
  return names;
}

const tooManyReaders = (max: number): TurnbuckleError =>
  new TurnbuckleError(
    'OVERLOADED',
    `Too many event streams are open for this token or for the daemon (limit: ${max}).`,
    {
      hint: 'Close a stream, or try again later.',
    },
  );
