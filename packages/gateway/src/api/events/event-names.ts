import type { RuntimeEvents } from 'turnbuckle';

export type EventName = keyof RuntimeEvents;

/** A map, so that the compiler sees when one is missing. */
const NAMES: Readonly<Record<EventName, true>> = {
  'call.started': true,
  'call.settled': true,
  'call.progress': true,
  'call.decided': true,
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

/** Everything that the runtime tells. */
export const EVENT_NAMES = Object.keys(NAMES) as readonly EventName[];

/** The events that a list such as `call.settled,server.*` means; undefined when a word of it means none. */
export function readNames(list: string): ReadonlySet<string> | undefined {
  const words = list.split(',').map((word) => word.trim());
  const meant = words.map((word) =>
    EVENT_NAMES.filter(
      (name) => name === word || (word.endsWith('.*') && name.startsWith(word.slice(0, -1))),
    ),
  );
  return meant.some((names) => names.length === 0) ? undefined : new Set(meant.flat());
}
