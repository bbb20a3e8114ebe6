/** Reports what happens to the servers of a runtime. Listens to nothing that happens during a call. */
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { monotonicNow } from 'turnbuckle/host';
import type { Incident } from './incident.js';
import type { OperatorLog } from './operator-log.js';
import { ServerIncidents } from './server-incidents.js';

type Watched = Pick<Runtime, 'on' | 'pins' | 'serverNames' | 'serverStatus' | 'status'>;

export interface RuntimeWatch {
  readonly servers: ServerIncidents;
  /** Reports nothing any more. */
  stop(): void;
}

/** Reports the problems that there are, and everything from now on. */
export function watchRuntime(
  runtime: Watched,
  log: Pick<OperatorLog, 'report' | 'debug'>,
  now = monotonicNow,
): RuntimeWatch {
  const { report } = log;
  const servers = new ServerIncidents({ report, now });
  for (const { name, status, problem } of runtime.status()) {
    if (status === 'disabled') servers.toggled(name, false);
    if (problem !== undefined) servers.failed(name, problem);
  }
  const watch = new ToolWatch(runtime, servers);
  const stops = [
    runtime.on('server.failed', ({ server, error }) => servers.failed(server, error)),
    runtime.on('server.state', (event) => {
      const { server, from, to, error } = event;
      if (to === 'ready') servers.connected(server);
      // A link that breaks is no incident yet: most are open again in a moment.
      else if (error !== undefined && (to === 'failed' || to === 'needs-auth')) servers.failed(server, error);
      const why = error === undefined ? '' : ` ${error.message}`;
      log.debug(server, `Server "${server}" went from ${from} to ${to}.${why}`);
    }),
    runtime.on('server.config', ({ server, problem }) => servers.entryChecked(server, problem)),
    runtime.on('server.toggled', ({ server, enabled }) => servers.toggled(server, enabled)),
    runtime.on('server.added', ({ server }) => {
      servers.added(server);
      if (runtime.serverStatus(server).status === 'disabled') servers.toggled(server, false);
    }),
    runtime.on('server.removed', ({ server }) => {
      servers.removed(server);
      watch.forget(server);
    }),
    runtime.on('catalog.changed', (event) => watch.onChanged(event)),
    runtime.on('approval.lost', ({ server, tool, error }) => {
      const why = error instanceof Error ? error.message : String(error);
      report({
        level: 'warn',
        kind: 'approval-lost',
        server,
        text: `Your approval of tool "${tool}" on server "${server}" could not be saved and lasts only until Turnbuckle stops: ${why}`,
        next: 'Make the state directory and your config file writable. Check them: turnbuckle doctor',
      });
    }),
    runtime.on('listener.failed', ({ event, error }) => report(internalError(error, `in "${event}"`))),
  ];
  return {
    servers,
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

/** Whether a list of tools is the first one of its server: that is no change, except of what was approved before. */
class ToolWatch {
  readonly #runtime: Watched;
  readonly #servers: ServerIncidents;
  readonly #listed = new Set<string>();

  constructor(runtime: Watched, servers: ServerIncidents) {
    this.#runtime = runtime;
    this.#servers = servers;
  }

  forget(server: string): void {
    this.#listed.delete(server);
  }

  onChanged({ server, kind, added, removed, changed }: RuntimeEvents['catalog.changed']): void {
    const runtime = this.#runtime;
    if (kind !== 'tools' || !runtime.serverNames().includes(server)) return;
    // The tools of a disabled server are hidden, not changed.
    if (runtime.serverStatus(server).status === 'disabled') return this.forget(server);
    const unapproved = [...added, ...changed].filter((tool) => this.#needsApproval(server, tool));
    const isFirst = !this.#listed.has(server);
    this.#listed.add(server);
    const changes = isFirst ? { added: [], removed: [], changed: [] } : { added, removed, changed };
    this.#servers.toolsChanged({ server, ...changes, unapproved });
  }

  #needsApproval(server: string, tool: string): boolean {
    const fault = this.#runtime.pins.faultOf({ server, tool });
    return fault === 'changed' || fault === 'new';
  }
}

/** A defect of Turnbuckle. `where` completes the sentence. */
export function internalError(error: unknown, where: string): Incident {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    level: 'error',
    kind: 'internal-error',
    code: 'INTERNAL',
    text: `Internal error ${where}: ${what}`,
    next: 'Please report this error. Check for other problems: turnbuckle doctor',
  };
}
