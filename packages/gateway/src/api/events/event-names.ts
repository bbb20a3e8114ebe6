import type { RuntimeEvents } from 'turnbuckle';

/** An event of the runtime. Parts of the daemon have events besides. */
export type EventName = keyof RuntimeEvents;

/** A record, so that the compiler reports a missing name. */
const ALL_NAMES: Readonly<Record<EventName, true>> = {
  'call.started': true,
  'call.settled': true,
  'call.progress': true,
  'call.decided': true,
  'energy.refused': true,
  'energy.low': true,
  'approval.asked': true,
  'approval.answered': true,
  'approval.lost': true,
  'tool.changed': true,
  'server.state': true,
  'server.failed': true,
  'server.recovered': true,
  'server.added': true,
  'server.removed': true,
  'server.config': true,
  'server.toggled': true,
  'server.asked': true,
  'server.notice': true,
  'server.ignored': true,
  'server.stderr': true,
  'catalog.read': true,
  'catalog.changed': true,
  'catalog.flagged': true,
  'catalog.dropped': true,
  'capability.ambiguous': true,
  'resource.updated': true,
  'listener.failed': true,
};

/** All events of the runtime. */
export const EVENT_NAMES = Object.keys(ALL_NAMES) as readonly EventName[];

/** The events in a list such as `call.settled,server.*`; undefined if an entry matches none of the known ones. */
export function parseEventNames(list: string, known: readonly string[]): ReadonlySet<string> | undefined {
  const words = list.split(',').map((word) => word.trim());
  const meant = words.map((word) =>
    known.filter((name) => name === word || (word.endsWith('.*') && name.startsWith(word.slice(0, -1)))),
  );
  return meant.some((names) => names.length === 0) ? undefined : new Set(meant.flat());
}
