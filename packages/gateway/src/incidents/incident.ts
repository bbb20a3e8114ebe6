import type { IncidentKind, IncidentLevel } from '@turnbuckle/store';

/** Something to report to the owner of the daemon. Texts may quote servers: the log cleans them. */
export interface Incident {
  readonly level: IncidentLevel;
  readonly kind: IncidentKind;
  /** Absent: it is about the daemon. */
  readonly server?: string | undefined;
  readonly code?: string | undefined;
  readonly text: string;
  /** What to do next, with a command. */
  readonly next?: string | undefined;
}

export type Report = (incident: Incident) => void;
