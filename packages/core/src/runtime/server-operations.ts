/** What a host does with a server besides calling it: connect, refresh, ping, watch, look at its status. */
import { isNotFound } from '../calls/call-errors.js';
import { checkName, checkOptions, type WaitLimits } from '../calls/call-request.js';
import { buildGatewayRoute } from '../connection/handshake/gateway-route.js';
import type { Caller } from '../policy/capabilities.js';
import type { Redactor } from '../redaction/redactor.js';
import { CallClock } from '../resilience/call-clock.js';
import type { ResourceListener, ResourceWatch } from '../servers/resource-watch.js';
import type { ServerSet } from '../servers/server-set.js';
import { redactStatus, type ServerStatus } from '../servers/server-status.js';
import { type CallerAccess, type ResourceAddress, unknownResource } from './caller-access.js';
import type { ItemLists } from './item-lists.js';
import { redactErrors } from './redact-errors.js';

export interface ServerOperationsParts {
  readonly servers: ServerSet;
  readonly access: CallerAccess;
  readonly items: ItemLists;
  readonly watch: ResourceWatch;
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

/** Servers have the same codes for both. */
const READ = { method: 'resources/read' };

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

  /** Authorized like a read, and again for each change. */
  async subscribe(
    { caller, ...address }: ResourceAddress & { readonly caller: Caller | undefined },
    listener: ResourceListener,
  ): Promise<() => Promise<void>> {
    const { uri } = address;
    checkName('The resource URI', uri);
    const { access, watch, redactor } = this.#parts;
    const tell: ResourceListener = (updated) => {
      if (access.mayRead(address, caller)) listener(updated);
    };
    const subscribing = async (): Promise<() => Promise<void>> => {
      const source = access.requireReadable(address, caller).watchSource(caller);
      return watch.subscribe(source, uri, tell).catch((thrown: unknown) => {
        const isHiddenOrMissing = caller !== undefined && isNotFound(thrown, READ);
        throw isHiddenOrMissing ? unknownResource(address, thrown) : thrown;
      });
    };
    return redactErrors(redactor, subscribing());
  }
}
