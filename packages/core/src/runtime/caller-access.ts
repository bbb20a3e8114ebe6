/** What a caller may do with a server besides calling it: connect it, and follow its resources. */
import type { EffectivePolicy } from '../calls/authorization/effective-policy.js';
import type { DecisionPreview } from '../calls/authorization/preview.js';
import type { Visibility } from '../calls/authorization/visibility.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Caller } from '../policy/capabilities.js';
import type { Decision } from '../policy/decide.js';
import type { Server } from '../servers/server.js';
import { unknownServer } from '../servers/server-errors.js';
import type { ServerSet } from '../servers/server-set.js';

export interface CallerAccessParts {
  readonly catalog: Catalog;
  readonly servers: ServerSet;
  readonly visibility: Visibility;
  readonly preview: Pick<DecisionPreview, 'decide'>;
  readonly policy: Pick<EffectivePolicy, 'rules'>;
}

export interface ResourceAddress {
  readonly server: string;
  readonly uri: string;
}

const KINDS = ['tool', 'resource', 'prompt'] as const;

export class CallerAccess {
  readonly #parts: CallerAccessParts;

  constructor(parts: CallerAccessParts) {
    this.#parts = parts;
  }

  /** The server, if it is enabled and the caller may know of it. A hidden one fails like one that does not exist. */
  requireServer(name: string, caller: Caller | undefined): Server {
    const { servers } = this.#parts;
    // Without a suggestion: that would name a server that the caller may not know of.
    if (caller !== undefined && (servers.get(name) === undefined || !this.mayUse(name, caller)))
      throw unknownServer(name, []);
    return servers.requireEnabled(name);
  }

  /** Whether it may read this resource now. */
  mayRead(address: ResourceAddress, caller: Caller | undefined): boolean {
    return caller === undefined || this.#decide(address, caller).action === 'allow';
  }

  #decide({ server, uri }: ResourceAddress, caller: Caller): Decision {
    return this.#parts.preview.decide({ kind: 'resource', server, tool: uri, arguments: { uri }, caller });
  }

  /**
   * Whether it may use anything there: in general, a tool that is listed, or an item that a capability, its view or a
   * rule names.
   */
  mayUse(server: string, caller: Caller): boolean {
    const { catalog, visibility } = this.#parts;
    if (KINDS.some((kind) => visibility.canSeeServer(caller, { kind, server }))) return true;
    if (catalog.listByServer(server).some((tool) => visibility.canSeeTool(caller, tool))) return true;
    const named = this.#namedItems(server, caller);
    // Each call and each item of a list is decided by itself, too.
    if (named.size > MAX_NAMED_ITEMS) return true;
    const isVisible = (tool: string): boolean =>
      KINDS.some((kind) => visibility.decideUndiscovered(caller, { kind, server, tool }).action !== 'deny');
    return [...named].some(isVisible);
  }

  #namedItems(server: string, { capabilities, limits }: Caller): ReadonlySet<string> {
    const prefixes = [`mcp:${server}/`, `mcp_${server}_`];
    const words = [...capabilities, ...(limits?.capabilities ?? []).flat()];
    const granted = words.flatMap((word) => {
      const prefix = prefixes.find((one) => word.startsWith(one));
      return prefix === undefined ? [] : [word.slice(prefix.length)];
    });
    const rules = [...this.#parts.policy.rules, ...(limits?.rules ?? [])];
    const permitted = rules.flatMap(({ rule: { action, tool = [] } }) =>
      action === 'deny' ? [] : [tool].flat().map(exampleOf),
    );
    return new Set([...granted, ...(limits?.tools ?? []), ...permitted]);
  }
}

/** More are not tried one by one. */
const MAX_NAMED_ITEMS = 100;

/** A name that the pattern matches. */
const exampleOf = (pattern: string): string =>
  pattern.replace(/\\([*?\\])|\*+|\?/g, (_part, escaped?: string) => escaped ?? 'x');
