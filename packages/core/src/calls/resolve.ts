/**
 * The step "resolve" of a call: what is meant by a name, for whom. What a caller may not know is not there: it fails as a
 * name does that nobody has, in the same words, whatever its server is doing.
 */
import { disabled, UNKNOWN, unknownServer, unknownTool } from './call-errors.js';
import type { CallGuard } from './call-guard.js';
import type { CallOptions, CallRequest } from './call-request.js';
import type { Catalog } from './catalog/catalog.js';
import { type NamingPreset, parseToolName, type ToolIdentity } from './catalog/names.js';
import type { CatalogTool } from './catalog/tool.js';
import { TurnbuckleError, toTurnbuckleError } from './errors.js';
import type { CallKind } from './events.js';
import type { Verdict } from './guarded-call.js';
import type { Caller } from './policy/capabilities.js';
import type { CallClock } from './resilience/call-clock.js';
import type { Sender } from './send.js';
import type { Server } from './server.js';

export interface CallNamesParts {
  readonly catalog: Catalog;
  readonly naming: NamingPreset;
  readonly guard: CallGuard;
  readonly sender: Pick<Sender, 'connect'>;
  readonly findServer: (name: string) => Server | undefined;
  readonly serverNames: () => Iterable<string>;
  /** Why a configured server could not be taken on. */
  readonly problemOf: (name: string) => TurnbuckleError | undefined;
}

/** The call that it is done for. */
interface Resolving extends Verdict {
  readonly requestId: string;
  readonly kind: CallKind;
  readonly server: string;
  readonly tool: string;
  readonly clock: CallClock;
}

interface ServerWanted {
  readonly caller: Caller | undefined;
  readonly unknown: () => TurnbuckleError;
  /** Absent: what the call says. */
  readonly what?: ToolIdentity;
}

type NamedRequest = Pick<CallRequest, 'tool' | 'server' | 'calledAs' | 'caller' | 'signal'>;

export class CallNames {
  readonly #parts: CallNamesParts;

  constructor(parts: CallNamesParts) {
    this.#parts = parts;
  }

  /** A tool whose server has been read. Whether the caller may know it is decided with the call. */
  find(request: CallRequest): CatalogTool | undefined {
    const { server, tool, isUnlisted } = request;
    if (isUnlisted === true) throw this.unknownTool(request);
    return server === undefined ? this.#parts.catalog.get(tool) : this.#parts.catalog.find(server, tool);
  }

  /** A tool of a server that is not up yet, or a name that does not exist. */
  async findByConnecting(call: Resolving, request: CallRequest): Promise<CatalogTool> {
    const { catalog, guard } = this.#parts;
    const { caller } = request;
    const identity = this.#identityOf(request);
    if (identity === undefined) throw this.unknownTool(request);
    const server = this.knownServer(call, {
      caller,
      unknown: () => this.unknownTool(request),
      what: identity,
    });
    await this.#connect(call, server, request);
    const found = catalog.find(identity.server, identity.tool);
    if (found !== undefined) return found;
    // A rule may speak of what is not there: then that is in the record.
    if (caller !== undefined) guard.mayKnow({ ...call, ...identity, verdict: call }, caller);
    throw this.unknownTool(request);
  }

  /** The server, if it exists, the caller may know it, and it is switched on. To a caller the rest is `unknown`. */
  knownServer(call: Resolving, { caller, unknown, what = call }: ServerWanted): Server {
    const { guard, findServer, problemOf, serverNames } = this.#parts;
    const server = findServer(what.server);
    if (caller !== undefined) {
      const { requestId, kind } = call;
      const asked = { requestId, kind, server: what.server, tool: what.tool, verdict: call };
      // Who knows the server is told how it is, whatever it asks for: what it gets of it is decided once that is found.
      const isKnown = guard.knowsServer(asked, caller) || guard.mayKnow(asked, caller);
      if (!isKnown || server === undefined) throw unknown();
    }
    if (server === undefined) throw problemOf(what.server) ?? unknownServer(what.server, serverNames());
    if (!server.enabled) throw disabled(server.name);
    return server;
  }

  /**
   * What a call fails with. For a name that nobody has, its server is brought up to see whether it has it; where that
   * cannot be done, that is the answer. So it is for what the caller may not know.
   */
  async asIfAbsent(call: Resolving, thrown: unknown, request: NamedRequest): Promise<unknown> {
    const { caller } = request;
    if (caller === undefined || !(thrown instanceof TurnbuckleError) || thrown.code !== UNKNOWN[call.kind])
      return thrown;
    const server = this.#identityOf(request) && this.#parts.findServer(call.server);
    if (server === undefined || !this.#parts.guard.knowsServer(call, caller)) return thrown;
    try {
      if (!server.enabled) throw disabled(server.name);
      await this.#connect(call, server, request);
      return thrown;
    } catch (error) {
      return toTurnbuckleError(error).during({ server: server.name, tool: request.tool });
    }
  }

  /** The same words whether there is no such tool, or none that the caller may know. */
  unknownTool({ tool, server, caller, calledAs }: CallRequest): TurnbuckleError {
    if (calledAs !== undefined) return unknownTool(calledAs.name, undefined, calledAs.others());
    const { catalog, guard } = this.#parts;
    const visible = caller === undefined ? catalog.list() : guard.visibleTo(caller, catalog.list());
    const candidates =
      server === undefined
        ? visible.map(({ name }) => name)
        : visible.flatMap((one) => (one.server === server ? [one.tool] : []));
    return unknownTool(tool, server, candidates);
  }

  /** Which tool of which server is meant; undefined for a name that says neither. */
  #identityOf({ server, tool, calledAs }: NamedRequest): ToolIdentity | undefined {
    if (calledAs !== undefined) return undefined;
    return server === undefined ? parseToolName(this.#parts.naming, tool) : { server, tool };
  }

  /** Brings the server up, if it is not. */
  async #connect(call: Resolving, server: Server, { signal }: CallOptions): Promise<void> {
    call.clock.atMost(server.config.maxCallMs);
    if (server.connection.link === undefined)
      await this.#parts.sender.connect(server, { clock: call.clock, options: { signal } });
  }
}
