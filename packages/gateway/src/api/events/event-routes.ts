/** What happens, as it happens. */
import { identityOf, TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';
import { mayTake } from '../../http/shares.js';
import type { Visit } from '../../http/visit.js';
import type { ApiParts } from '../api-parts.js';
import type { ApiRoute } from '../api-route.js';
import { misfit, readQuery } from '../fit.js';
import { sightOf } from '../sight.js';
import { EventFeed, type FeedOptions } from './event-feed.js';
import { EVENT_NAMES, readNames } from './event-names.js';
import { type StreamLimits, sendEvents } from './event-reader.js';

/** For tests, and for hosts with other needs. */
export interface EventLimits extends Partial<StreamLimits>, Pick<FeedOptions, 'keep' | 'lingerMs'> {
  /** How many may follow at once (100): each takes one of the requests that can be on their way. */
  readonly maxReaders?: number | undefined;
}

const QUERY = z.strictObject({
  /** Names of events with commas between them, or beginnings such as `call.*`. */
  types: z.optional(z.string()),
});
const DEFAULTS: StreamLimits = { keepAliveMs: 15_000, maxUnsentBytes: 1_024 * 1_024 };
const MOST_READERS = 100;

/** The route of the stream. */
export function createEventRoutes(parts: ApiParts, limits: EventLimits = {}): readonly ApiRoute[] {
  const { runtime } = parts.configured;
  const { keep, lingerMs, maxReaders = MOST_READERS, ...given } = limits;
  const feed = new EventFeed({ runtime, epoch: parts.startedAt.toString(36), keep, lingerMs });
  /** Who follows, once for each stream. */
  const readers: string[] = [];
  return [
    {
      method: 'GET',
      path: '/api/events',
      access: 'look',
      summary: `What happens, as server-sent events: ${EVENT_NAMES.join(', ')}`,
      query: QUERY,
      mediaType: 'text/event-stream',
      handle: (visit) => {
        const names = namesOf(visit);
        const { isOwner = false } = visit.visitor;
        const identity = identityOf(visit.caller);
        const own = readers.filter((one) => one === identity).length;
        if (!mayTake({ own, taken: readers.length, max: maxReaders, isOwner })) throw tooMany(maxReaders);
        readers.push(identity);
        visit.response.once('close', () => readers.splice(readers.indexOf(identity), 1));
        sendEvents({
          visit,
          feed,
          sight: sightOf(runtime, visit),
          names,
          limits: { ...DEFAULTS, ...given },
        });
      },
    },
  ];
}

function namesOf(visit: Visit): ReadonlySet<string> | undefined {
  const { types } = readQuery(visit, QUERY);
  if (types === undefined) return undefined;
  const names = readNames(types);
  if (names === undefined)
    throw misfit('query', [{ path: 'types', message: `one of ${EVENT_NAMES.join(', ')}` }]);
  return names;
}

const tooMany = (most: number): TurnbuckleError =>
  new TurnbuckleError(
    'OVERLOADED',
    `Too many clients follow the events already, of this token or of all; ${most} can.`,
    {
      hint: 'Close one of them, or try again later.',
    },
  );
