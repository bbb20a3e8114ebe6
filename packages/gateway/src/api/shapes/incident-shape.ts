/** An incident as the API shows it. */
import { INCIDENT_KINDS, INCIDENT_LEVELS, type IncidentKind, type ShownIncident } from '@turnbuckle/store';
import * as z from 'zod/mini';

const KINDS = Object.keys(INCIDENT_KINDS) as IncidentKind[];

export const INCIDENT_KIND = z.enum(KINDS);
export const INCIDENT_LEVEL = z.enum(INCIDENT_LEVELS);

export const INCIDENT = z.object({
  number: z
    .number()
    .register(z.globalRegistry, { description: 'Position in the log. Newer incidents have higher numbers.' }),
  at: z.string().register(z.globalRegistry, { description: 'When the incident was reported.' }),
  level: INCIDENT_LEVEL,
  kind: INCIDENT_KIND,
  server: z.optional(z.string()).register(z.globalRegistry, {
    description: 'Name of the server. Absent if the incident is about the daemon.',
  }),
  code: z.optional(z.string()).register(z.globalRegistry, { description: 'Error code.' }),
  text: z.string().register(z.globalRegistry, {
    description:
      'What happened. Without "admin" access, this is only a general description of the incident kind.',
  }),
  next: z
    .optional(z.string())
    .register(z.globalRegistry, { description: 'The next step. Only with "admin" access.' }),
});

/** Without what it quotes: errors and output of a server, and names of tools. */
export const withoutDetails = ({ next: _, ...incident }: ShownIncident): ShownIncident => ({
  ...incident,
  text: INCIDENT_KINDS[incident.kind],
});
