/**
 * The tools of callers with credentials of their own, at servers that list nothing with the credentials of the server
 * itself: such a caller gets the list of its own connection.
 */
import type { SignIns } from '../auth/sign-ins.js';
import type { Visibility } from '../calls/authorization/visibility.js';
import type { Catalog } from '../catalog/catalog.js';
import type { CatalogTool } from '../catalog/tool.js';
import { type Caller, callerKey, identityOf } from '../policy/capabilities.js';
import type { Server } from '../servers/server.js';
import type { ServerSet } from '../servers/server-set.js';

export interface OwnToolsParts {
  readonly catalog: Catalog;
  readonly servers: ServerSet;
  readonly visibility: Visibility;
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
  readonly tools: Tools;
}

const MAX_CACHED_CALLERS = 200;

export class OwnTools {
  readonly #parts: OwnToolsParts;
  readonly #lists = new Map<string, ExtendedList>();

  constructor(parts: OwnToolsParts) {
    this.#parts = parts;
  }

  /** The tools of the shared lists that the caller can see, and its own: the same array until one of them changes. */
  async extend(caller: Caller, shared: Tools): Promise<Tools> {
    // If the shared connection works, or is not needed yet, so is its list.
    const failed = this.#servers(caller).filter(({ connection }) => connection.error !== undefined);
    // Those that cannot be reached are left out: their next call gets the error.
    await Promise.all(failed.map((server) => this.#open(server, caller).catch(() => {})));
    const own = this.#known(caller);
    if (own.length === 0) return shared;
    const { ruleVersion } = this.#parts.policy;
    const made = { shared, limits: caller.limits, own, ruleVersion };
    const key = JSON.stringify([identityOf(caller), callerKey(caller)]);
    const before = this.#lists.get(key);
    if (before !== undefined && isMadeFrom(before, made)) return before.tools;
    const tools = this.#merge(caller, shared, own);
    if (this.#lists.size >= MAX_CACHED_CALLERS) this.#lists.clear();
    this.#lists.set(key, { ...made, tools });
    return tools;
  }

  /** The same without connecting, and a new array. */
  extendWithKnown(caller: Caller, shared: Tools): Tools {
    const own = this.#known(caller);
    return own.length === 0 ? shared : this.#merge(caller, shared, own);
  }

  #known(caller: Caller): ExtendedList['own'] {
    return this.#servers(caller).flatMap((server) => server.ownToolsFor(caller) ?? []);
  }

  #merge(caller: Caller, shared: Tools, own: ExtendedList['own']): Tools {
    const { catalog, visibility } = this.#parts;
    const isUsable = (tool: CatalogTool): boolean =>
      catalog.get(tool.name) === undefined && visibility.canSeeTool(caller, tool);
    return [...shared, ...own.flatMap((listed) => [...listed.values()].filter(isUsable))];
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
    if (isWorthTrying) await connection.open();
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
