/** An incident: something that the daemon reports to its owner once, with the next step. */
import type { Row } from './database.js';

/** Every kind of incident, with what it means; the API's document and the command line use the same words. */
export const INCIDENT_KINDS = {
  'server-failed': 'A server cannot be reached, or has stopped.',
  'server-flooded': 'A server was stopped because it sent too much data.',
  'server-recovered': 'A server is connected again.',
  'sign-in-needed': 'A server requires sign-in.',
  'sandbox-missing': 'A server needs a sandbox that this machine does not have.',
  'entry-invalid': "A server's configuration is invalid.",
  'entry-valid': "A server's configuration is valid again.",
  'tools-changed': 'A server added, removed or changed tools.',
  'approval-lost': 'An approval could not be saved.',
  'config-problem': 'A config file has a problem.',
  'config-solved': 'A problem in a config file is resolved.',
  'config-reloaded': 'The config files were reloaded.',
  'token-refused': 'A request used a token that is unknown, expired or revoked.',
  'token-file': 'There is a problem with the token file.',
  'log-failed': 'Calls or incidents cannot be written to the log.',
  'telemetry-failed': 'Traces or metrics cannot be exported.',
  'open-to-network': 'The daemon listens on an address that other machines can reach.',
  'steward-failed': 'The steward, or part of its work, cannot continue.',
  'internal-error': 'An error in Turnbuckle itself.',
  suppressed: 'One source reported too many incidents; the rest were counted but not recorded.',
  'daemon-started': 'The daemon accepts requests.',
  'daemon-stopped': 'The daemon has stopped.',
} as const;

export type IncidentKind = keyof typeof INCIDENT_KINDS;

export const INCIDENT_LEVELS = ['error', 'warn', 'info'] as const;
export type IncidentLevel = (typeof INCIDENT_LEVELS)[number];

/** What is kept of an incident; redacted and bounded before it is written. */
export interface IncidentRecord {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly level: IncidentLevel;
  readonly kind: IncidentKind;
  /** Absent: it is about the daemon. */
  readonly server?: string | undefined;
  readonly code?: string | undefined;
  readonly text: string;
  /** The next step, with a command. */
  readonly next?: string | undefined;
}

/** An incident as it is shown: `number` is its place in the log, the time is ISO 8601. */
export interface ShownIncident extends Omit<IncidentRecord, 'at'> {
  readonly number: number;
  readonly at: string;
}

/** Undefined for a row that this release does not understand. */
export function toShownIncident(row: Row): ShownIncident | undefined {
  const { number, at, level, kind, text } = row;
  const known = INCIDENT_LEVELS.find((one) => one === level);
  if (known === undefined || !isIncidentKind(kind)) return undefined;
  const optional = ['server', 'code', 'next'].flatMap((name) =>
    row[name] === null ? [] : [[name, String(row[name])]],
  );
  return {
    number: Number(number),
    at: new Date(Number(at)).toISOString(),
    level: known,
    kind,
    ...Object.fromEntries(optional),
    text: String(text),
  };
}

const isIncidentKind = (kind: unknown): kind is IncidentKind =>
  typeof kind === 'string' && Object.hasOwn(INCIDENT_KINDS, kind);
