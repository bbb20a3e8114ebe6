/**
 * The "resolve" step of a call: which tool a name refers to, for this caller. A hidden tool fails exactly like one
 * that does not exist, with the same message, whatever state its server is in.
 */

import type { Catalog } from '../catalog/catalog.js';
import { type NamingPreset, parseToolName, type ToolIdentity } from '../catalog/names.js';
import type { CatalogTool } from '../catalog/tool.js';
import { TurnbuckleError, toTurnbuckleError } from '../errors.js';
import type { Caller } from '../policy/capabilities.js';
import type { Server } from '../servers/server.js';
import { serverDisabled, unknownServer } from '../servers/server-errors.js';
import type { CallAuthorizer } from './authorization/authorize.js';
import type { Visibility } from './authorization/visibility.js';
import { UNKNOWN_CODES, unknownTool } from './call-errors.js';
import type { CallOptions, CallRequest } from './call-request.js';
import type { Invocation } from './invocation.js';
import type { Sender } from './sending/send.js';

export interface CallResolverParts {
  readonly catalog: Catalog;
  readonly naming: NamingPreset;
  readonly authorizer: Pick<CallAuthorizer, 'denialForUndiscovered'>;
  readonly visibility: Visibility;
  readonly sender: Pick<Sender, 'connect'>;
  readonly findServer: (name: string) => Server | undefined;
  readonly serverNames: () => Iterable<string>;
  /** Why a configured server is unusable. */
  readonly problemOf: (name: string) => TurnbuckleError | undefined;
}

/** The call that it is done for. */
type ResolvingCall = Pick<Invocation, 'requestId' | 'kind' | 'server' | 'tool' | 'clock' | 'decision'>;

interface ServerLookup {
  readonly caller: Caller | undefined;
  readonly unknown: () => TurnbuckleError;
  /** Absent: as in the call. */
  readonly what?: ToolIdentity;
}

type NamedRequest = Pick<CallRequest, 'tool' | 'server' | 'calledAs' | 'caller' | 'signal'>;

export class CallResolver {
  readonly #parts: CallResolverParts;

  constructor(parts: CallResolverParts) {
    this.#parts = parts;
  }

  /** A tool of a server that has been listed. Visibility is decided with the call. */
  find(request: CallRequest): CatalogTool | undefined {
    const { server, tool, isUnlisted } = request;
    if (isUnlisted === true) throw this.unknownTool(request);
    return server === undefined ? this.#parts.catalog.get(tool) : this.#parts.catalog.find(server, tool);
  }

  /** A tool of a server that is not connected yet, or an unknown name. */
  async findByConnecting(call: ResolvingCall, request: CallRequest): Promise<CatalogTool> {
    const { catalog } = this.#parts;
    const { caller } = request;
    const identity = this.#identityOf(request);
    if (identity === undefined) throw this.unknownTool(request);
    const server = this.requireVisibleServer(call, {
      caller,
      unknown: () => this.unknownTool(request),
      what: identity,
    });
    await this.#connect(call, server, request);
    const found =
      catalog.find(identity.server, identity.tool) ?? server.ownToolsFor(caller)?.get(identity.tool);
    if (found !== undefined) return found;
    // A rule may deny something that does not exist: record that.
    if (caller !== undefined) this.#canSee(call, identity, caller);
    throw this.unknownTool(request);
  }

  /** The server, if it exists, is visible and enabled. To a caller all else is `unknown`. */
  requireVisibleServer(call: ResolvingCall, { caller, unknown, what = call }: ServerLookup): Server {
    const { visibility, findServer, problemOf, serverNames } = this.#parts;
    const server = findServer(what.server);
    if (caller !== undefined) {
      const asked = { kind: call.kind, server: what.server };
      // A caller that can see the server gets its state; the tool itself is decided once it is found.
      const isKnown = visibility.canSeeServer(caller, asked) || this.#canSee(call, what, caller);
      if (!isKnown || server === undefined) throw unknown();
    }
    if (server === undefined) throw problemOf(what.server) ?? unknownServer(what.server, serverNames());
    if (!server.enabled) throw serverDisabled(server.name);
    return server;
  }

  /**
   * The error for an unknown name. The server is connected first to find out whether it has the tool; if that fails,
   * the call fails with that error. Hidden tools behave the same.
   */
  async maskExistence(call: ResolvingCall, thrown: unknown, request: NamedRequest): Promise<unknown> {
    const { caller } = request;
    if (
      caller === undefined ||
      !(thrown instanceof TurnbuckleError) ||
      thrown.code !== UNKNOWN_CODES[call.kind]
    )
      return thrown;
    const server = this.#identityOf(request) && this.#parts.findServer(call.server);
    if (server === undefined || !this.#parts.visibility.canSeeServer(caller, call)) return thrown;
    try {
      if (!server.enabled) throw serverDisabled(server.name);
      await this.#connect(call, server, request);
      return thrown;
    } catch (error) {
      return toTurnbuckleError(error).during({ server: server.name, tool: request.tool });
    }
  }

  /** The same message for an unknown and for a hidden tool. */
  unknownTool({ tool, server, caller, calledAs }: CallRequest): TurnbuckleError {
    if (calledAs !== undefined) return unknownTool(calledAs.name, undefined, calledAs.others());
    const { catalog, visibility } = this.#parts;
    const visible = caller === undefined ? catalog.list() : visibility.filter(caller, catalog.list());
    const candidates =
      server === undefined
        ? visible.map(({ name }) => name)
        : visible.flatMap((one) => (one.server === server ? [one.tool] : []));
    return unknownTool(tool, server, candidates);
  }

  /** Whether the caller can see an item whose definition is not loaded yet; records a denial. */
  #canSee(call: ResolvingCall, { server, tool }: ToolIdentity, caller: Caller): boolean {
    const { requestId, kind } = call;
    const denial = this.#parts.authorizer.denialForUndiscovered(
      { requestId, kind, server, tool, caller },
      caller,
    );
    if (denial !== undefined) call.decision = denial;
    return denial === undefined;
  }

  /** The server and tool that a name refers to; undefined if it contains neither. */
  #identityOf({ server, tool, calledAs }: NamedRequest): ToolIdentity | undefined {
    if (calledAs !== undefined) return undefined;
    return server === undefined ? parseToolName(this.#parts.naming, tool) : { server, tool };
  }

  /** Connects the server if necessary. A caller with credentials of its own does not need those of the server. */
  async #connect(call: ResolvingCall, server: Server, { signal, caller }: CallOptions): Promise<void> {
    call.clock.setDefaultTotal(server.config.maxCallMs);
    server.assertCredentials(caller);
    const owner = server.credentialsAgent(caller) === undefined ? undefined : caller;
    if (server.findConnection(owner)?.link === undefined)
      await this.#parts.sender.connect(server, { clock: call.clock, options: { signal, caller: owner } });
  }
}
