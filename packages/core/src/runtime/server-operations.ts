/** What a host does with a server besides calling it: connect, refresh, ping, watch, look at its status. */
import type { Calls } from '../calls/call.js';
import { checkOptions, resourceFollow, type WaitLimits } from '../calls/call-request.js';
import type { ParsedServers } from '../config/layers/parse.js';
import { buildGatewayRoute } from '../connection/handshake/gateway-route.js';
import type { Caller } from '../policy/capabilities.js';
import type { Redactor } from '../redaction/redactor.js';
import { CallClock } from '../resilience/call-clock.js';
import type { ResourceListener, ResourceWatch } from '../servers/resource-watch.js';
import type { Server } from '../servers/server.js';
import type { ServerSet } from '../servers/server-set.js';
import { redactStatus, type ServerStatus } from '../servers/server-status.js';
import type { CallerAccess, ResourceAddress } from './caller-access.js';
import type { ItemLists } from './item-lists.js';
import { redactErrors } from './redact-errors.js';

export interface ServerOperationsParts {
  readonly servers: ServerSet;
  readonly access: CallerAccess;
  readonly items: ItemLists;
  readonly watch: ResourceWatch;
  readonly calls: Pick<Calls, 'read'>;
  readonly redactor: Redactor;
  /** Identifies this gateway, where the runtime is part of one. */
  readonly instance: string | undefined;
}

export interface ConnectOptions extends WaitLimits {
  /**
   * Connects for this caller, as its first call would: with `share`, and with its credentials. SERVER_UNKNOWN if it may
   * use nothing there.
   */
  readonly caller?: Caller | undefined;
}

export class ServerOperations {
  readonly #parts: ServerOperationsParts;

  constructor(parts: ServerOperationsParts) {
    this.#parts = parts;
  }

  async connect(server: string, { caller, ...limits }: ConnectOptions): Promise<void> {
    checkOptions(limits);
    const found = this.#parts.access.requireServer(server, caller);
    const connection = caller === undefined ? found.connection : found.connectionFor(caller);
    const waiting = { what: `the connection to server "${server}"`, server, signal: limits.signal };
    await new CallClock(limits).until(connection.open(), waiting);
  }

  /** `parsed`: the configuration of this one server. */
  async add(name: string, { servers, problems }: ParsedServers): Promise<ServerStatus> {
    for (const problem of problems.values()) throw problem;
    for (const [known, config] of servers) await this.#parts.servers.add(known, config);
    return this.statusOf(name);
  }

  async refresh(server: string | undefined): Promise<void> {
    const { servers, items, redactor } = this.#parts;
    const chosen = server === undefined ? servers.live() : [servers.requireEnabled(server)];
    await redactErrors(redactor, Promise.all(chosen.map((one) => items.refresh(one))));
  }

  async ping(server: string): Promise<boolean> {
    const { connection } = this.#parts.servers.requireEnabled(server);
    await connection.open();
    return connection.health.ping();
  }

  status(): ServerStatus[] {
    const { servers, redactor } = this.#parts;
    return servers.status().map((status) => redactStatus(status, redactor));
  }

  statusOf(server: string): ServerStatus {
    return redactStatus(this.#parts.servers.statusOf(server), this.#parts.redactor);
  }

  routeThrough(servers: readonly ServerStatus[]): Readonly<Record<string, unknown>> {
    const { instance } = this.#parts;
    if (instance === undefined) return {};
    return buildGatewayRoute(
      instance,
      servers.map(({ capabilities }) => capabilities),
    );
  }

  /** One call like a read, and authorized again for each change. */
  async subscribe(
    { caller, ...address }: ResourceAddress & { readonly caller: Caller | undefined },
    listener: ResourceListener,
  ): Promise<() => Promise<void>> {
    const { uri } = address;
    const { access, watch, calls } = this.#parts;
    const tell: ResourceListener = (updated) => {
      if (access.mayRead(address, caller)) listener(updated);
    };
    let stopped = false;
    let stop: (() => Promise<void>) | undefined;
    const follow = async (server: Server): Promise<void> => {
      const end = await watch.subscribe(server.watchSource(caller), uri, tell);
      // The call has failed meanwhile.
      if (stopped) await end().catch(() => {});
      else stop = end;
    };
    try {
      await calls.read(resourceFollow({ ...address, caller }, follow));
    } catch (error) {
      stopped = true;
      await stop?.().catch(() => {});
      throw error;
    }
    return async () => stop?.();
  }
}
