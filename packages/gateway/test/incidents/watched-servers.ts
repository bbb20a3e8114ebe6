/** Servers whose events a test emits itself, and the incidents that are reported of them. */
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import type { Incident } from '../../src/incidents/incident.js';
import { watchRuntime } from '../../src/incidents/watch-runtime.js';

type Name = keyof RuntimeEvents;

export interface WatchedServers {
  readonly reported: Incident[];
  readonly clock: { now: number };
  /** Tools that are not as they were approved. */
  readonly unapproved: Set<string>;
  readonly disabled: Set<string>;
  emit<Event extends Name>(name: Event, event: RuntimeEvents[Event]): void;
}

export function watchServers(names: readonly string[], status: readonly object[] = []): WatchedServers {
  const listeners = new Map<Name, (event: never) => void>();
  const reported: Incident[] = [];
  const clock = { now: 0 };
  const unapproved = new Set<string>();
  const disabled = new Set<string>();
  const runtime = {
    on: (name: Name, listener: (event: never) => void) => {
      listeners.set(name, listener);
      return () => listeners.delete(name);
    },
    pins: {
      faultOf: ({ tool }: { tool: string }) => (unapproved.has(tool) ? 'changed' : undefined),
    },
    serverNames: () => [...names],
    serverStatus: (name: string) => ({ status: disabled.has(name) ? 'disabled' : 'connected' }),
    status: () => status,
  } as unknown as Runtime;
  const report = (incident: Incident): void => void reported.push(incident);
  watchRuntime(runtime, { report, debug: () => {} }, () => clock.now);
  return {
    ...{ reported, clock, unapproved, disabled },
    emit: (name, event) => listeners.get(name)?.(event as never),
  };
}
