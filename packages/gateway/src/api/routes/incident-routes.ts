/** What the daemon reported to its owner. */
import { type ShownIncident, toShownIncident } from '@turnbuckle/store';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import type { FairQueue } from '../../http/limits/fair-queue.js';
import type { RequestContext } from '../../http/request-context.js';
import { readQuery } from '../../http/validate.js';
import { requireLog } from '../log-access.js';
import { ServerLookup } from '../servers/server-lookup.js';
import { INCIDENT, INCIDENT_KIND, INCIDENT_LEVEL, withoutDetails } from '../shapes/incident-shape.js';
import { readerAccessOf } from '../shapes/server-shape.js';
import { TIME } from '../shapes/time-query.js';
import { type Visibility, visibilityOf } from '../visibility.js';
import type { ApiDependencies } from './api-dependencies.js';

const FILTERS = {
  kind: z.optional(INCIDENT_KIND),
  /** Those of this level and of more serious ones. */
  level: z.optional(INCIDENT_LEVEL),
  since: z.optional(TIME),
  until: z.optional(TIME),
  /** The number of an incident: only older ones, for the next page. */
  before: z.optional(z.coerce.number().check(z.int(), z.gte(1))),
  limit: z.optional(z.coerce.number().check(z.int(), z.gte(1), z.lte(1_000))),
};
const SERVER_QUERY = z.strictObject(FILTERS);
const QUERY = z.strictObject({ server: z.optional(z.string()), ...FILTERS });
const RESPONSE = z.object({ incidents: z.array(INCIDENT), next: z.optional(z.number()) });
const DEFAULT_PAGE_SIZE = 50;
/** These can name tools that a restricted token may not know. */
const KINDS_WITH_TOOLS: ReadonlySet<string> = new Set(['tools-changed', 'approval-lost', 'suppressed']);

export function createIncidentRoutes(parts: ApiDependencies, queue: FairQueue): readonly ApiRoute[] {
  const { configured, log } = parts;
  const { runtime } = configured;
  const servers = new ServerLookup(configured);
  const find = async (
    context: RequestContext,
    query: z.output<typeof QUERY>,
  ): Promise<z.output<typeof RESPONSE> | undefined> => {
    const known = requireLog(log);
    const { limit = DEFAULT_PAGE_SIZE } = query;
    return queue.run(context.identity, async () => {
      if (context.signal.aborted) return undefined;
      const visibility = visibilityOf(runtime, context);
      const { isManager } = readerAccessOf(context);
      const visible =
        isManager && visibility.isUnrestricted
          ? undefined
          : await visibility.visibleOf(runtime.serverNames(), (server) => ({ server }));
      const rows = await known.incidents({ ...query, limit, servers: visible });
      const show = (incident: ShownIncident): ShownIncident =>
        isManager && maySeeTools(incident, visibility) ? incident : withoutDetails(incident);
      const shown = rows.flatMap((row) => toShownIncident(row) ?? []).map(show);
      // They were redacted when they were written, but new secrets may be known since.
      const incidents = shown.map(({ text, ...facts }) => ({ ...facts, text: String(runtime.redact(text)) }));
      return { incidents, next: rows.length >= limit ? Number(rows.at(-1)?.number) : undefined };
    });
  };
  return [
    {
      method: 'GET',
      path: '/api/incidents',
      access: 'read',
      summary: 'List incidents for servers and the daemon, newest first',
      query: QUERY,
      response: RESPONSE,
      handle: (context) => find(context, readQuery(context, QUERY)),
    },
    {
      method: 'GET',
      path: '/api/servers/:name/incidents',
      anyNames: true,
      access: 'read',
      summary: 'List incidents for one server, newest first',
      query: SERVER_QUERY,
      response: RESPONSE,
      handle: (context) => {
        const server = servers.nameOf(context);
        return find(context, { ...readQuery(context, SERVER_QUERY), server });
      },
    },
  ];
}

const maySeeTools = ({ kind }: ShownIncident, { isUnrestricted }: Visibility): boolean =>
  isUnrestricted || !KINDS_WITH_TOOLS.has(kind);
