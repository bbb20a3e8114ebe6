/**
 * A part of the daemon that another package brings: routes with the same authentication and in the same OpenAPI document,
 * events in the same stream, metrics, a start and an end. The command that starts the daemon chooses the parts.
 */
import type { ConfiguredRuntime } from 'turnbuckle';
import type { ApiRoute } from '../http/api-route.js';
import type { Report } from '../incidents/incident.js';
import type { Metrics } from '../metrics/metrics.js';

/** The data of each event, by its name: `<part>.<what happened>`. */
export type PartEvents = Readonly<Record<string, object>>;

export interface DaemonPart {
  readonly name: string;
  /** All events that it publishes. */
  readonly events: readonly string[];
  /** Before the first request. If it rejects, the daemon reports it and runs without the part. */
  start(context: PartContext): Promise<RunningPart>;
}

/** A part with the types of its events. */
export interface TypedPart<Events extends PartEvents> {
  readonly name: string;
  readonly events: ReadonlyArray<keyof Events & string>;
  start(context: PartContext<Events>): Promise<RunningPart>;
}

/** Its events are checked where it publishes them; the daemon passes them on, whatever they are. */
export const createPart = <Events extends PartEvents>({
  name,
  events,
  start,
}: TypedPart<Events>): DaemonPart => ({
  name,
  events,
  start: (context) => start(context),
});

export interface PartContext<Events extends PartEvents = PartEvents> {
  readonly configured: ConfiguredRuntime;
  readonly stateDir: string;
  /** The database that all parts share; each has its own tables. */
  readonly workFile: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly metrics: Pick<Metrics, 'counter' | 'gauge'>;
  /** Reports to the owner of the daemon. */
  readonly report: Report;
  /** Sends an event to whoever may see everything. Secrets are removed from the data. */
  publish<Name extends keyof Events & string>(name: Name, data: Events[Name]): void;
  /** Called when the configuration has changed and is in effect; returns a function that removes the listener. */
  onConfigChanged(listener: () => void): () => void;
}

export interface RunningPart {
  readonly routes: readonly ApiRoute[];
  /** Accepts no more work, and ends what it started. */
  close(): Promise<void>;
}
