/**
 * The tools of callers with credentials of their own, at servers that list nothing with the credentials of the server
 * itself: such a caller gets the list of its own connection.
 */
import type { SignIns } from '../auth/sign-ins.js';
import type { Visibility } from '../calls/authorization/visibility.js';
import type { Catalog } from '../catalog/catalog.js';
import type { CatalogTool } from '../catalog/tool.js';
import type { Connection } from '../connection/connection.js';
import { toTurnbuckleError } from '../errors.js';
import { inSlices, runToEnd, type Steps } from '../json/slices.js';
import { type Caller, callerKey, identityOf } from '../policy/capabilities.js';
import { CallClock } from '../resilience/call-clock.js';
import type { Server } from '../servers/server.js';
import type { ServerSet } from '../servers/server-set.js';
import type { CallerAccess } from './caller-access.js';

export interface OwnToolsParts {
  readonly catalog: Catalog;
  readonly servers: ServerSet;
  readonly visibility: Visibility;
  readonly access: Pick<CallerAccess, 'mayUse'>;
  readonly signIns: Pick<SignIns, 'hasNewSignIn'>;
  readonly monotonicNow: () => number;
  readonly policy: { readonly ruleVersion: number };
}

type Tools = readonly CatalogTool[];

/** A list, and everything that it was made from. */
interface ExtendedList {
  readonly shared: Tools;
  readonly limits: Caller['limits'];
  readonly own: ReadonlyArray<ReadonlyMap<string, CatalogTool>>;
  readonly ruleVersion: number;
  readonly tools: Promise<Tools>;
}

const MAX_CACHED_CALLERS = 200;
/** How long a list waits for the connection of its caller, if the server has no shorter limit for lists. */
const MAX_WAIT_MS = 10_000;

export class OwnTools {
  readonly #parts: OwnToolsParts;
  readonly #lists = new Map<string, ExtendedList>();
  /** A list has waited for them in vain: the next ones do not wait until they are open. */
  readonly #slow = new WeakSet<Connection>();

  constructor(parts: OwnToolsParts) {
    this.#parts = parts;
  }

  /** The tools of the shared lists that the caller can see, and its own: the same array until one of them changes. */
  async extend(caller: Caller, shared: Tools): Promise<Tools> {
    // If the shared connection works, or is not needed yet, so is its list.
    const failed = this.#servers(caller).filter(
      ({ name, connection }) => connection.error !== undefined && this.#parts.access.mayUse(name, caller),
    );
    // Those that cannot be reached, or not soon, are left out: their next call gets the error.
    await Promise.all(failed.map((server) => this.#open(server, caller).catch(() => {})));
    const own = this.#known(caller);
    if (own.length === 0) return shared;
    const { ruleVersion } = this.#parts.policy;
    const made = { shared, limits: caller.limits, own, ruleVersion };
    const key = JSON.stringify([identityOf(caller), callerKey(caller)]);
    const before = this.#lists.get(key);
    if (before !== undefined && isMadeFrom(before, made)) return before.tools;
    const tools = inSlices(this.#merge(caller, shared, own));
    if (this.#lists.size >= MAX_CACHED_CALLERS) this.#lists.clear();
    const list = { ...made, tools };
    this.#lists.set(key, list);
    return tools.catch((thrown: unknown) => {
      if (this.#lists.get(key) === list) this.#lists.delete(key);
      throw thrown;
    });
  }

  /** The same without connecting, and a new array. */
  extendWithKnown(caller: Caller, shared: Tools): Tools {
    const own = this.#known(caller);
    return own.length === 0 ? shared : runToEnd(this.#merge(caller, shared, own));
  }

  #known(caller: Caller): ExtendedList['own'] {
    return this.#servers(caller).flatMap((server) => server.ownToolsFor(caller) ?? []);
  }

  *#merge(caller: Caller, shared: Tools, own: ExtendedList['own']): Steps<Tools> {
    const { catalog, visibility } = this.#parts;
    const tools = [...shared];
    for (const listed of own) {
      for (const tool of listed.values()) {
        if (catalog.get(tool.name) === undefined && visibility.canSeeTool(caller, tool)) tools.push(tool);
        yield;
      }
    }
    return tools;
  }

  /** Those that the caller has credentials for, and that are not listed with the credentials of the server. */
  #servers(caller: Caller): Server[] {
    const { catalog, servers, monotonicNow } = this.#parts;
    return servers
      .all()
      .filter(
        (server) =>
          server.enabled &&
          server.credentialsAgent(caller) !== undefined &&
          catalog.stateOf(server.name, 'tools', monotonicNow()) === 'empty',
      );
  }

  /** Once: after a failure, its next call or a new sign-in connects it. */
  async #open(server: Server, caller: Caller): Promise<void> {
    const connection = server.connectionFor(caller);
    const { state } = connection;
    const isWorthTrying =
      state === 'needs-auth'
        ? await this.#parts.signIns.hasNewSignIn(server.signInOwner(caller))
        : state !== 'failed' && state !== 'waiting';
    if (isWorthTrying) await this.#waitFor(connection);
  }

  /** It goes on connecting if that takes longer than a list waits. */
  async #waitFor(connection: Connection): Promise<void> {
    const opening = connection.open().finally(() => this.#slow.delete(connection));
    opening.catch(() => {});
    if (this.#slow.has(connection)) return;
    const { name, config } = connection;
    const clock = new CallClock({ maxTotalMs: Math.min(config.listTimeoutMs, MAX_WAIT_MS) });
    await clock.until(opening, { what: 'its tool list', server: name }).catch((thrown: unknown) => {
      if (toTurnbuckleError(thrown).code === 'CALL_TIMEOUT') this.#slow.add(connection);
    });
  }
}

const isMadeFrom = (
  list: ExtendedList,
  { shared, limits, own, ruleVersion }: Omit<ExtendedList, 'tools'>,
): boolean =>
  list.ruleVersion === ruleVersion &&
  list.shared === shared &&
  list.limits === limits &&
  list.own.length === own.length &&
  list.own.every((tools, index) => tools === own[index]);
