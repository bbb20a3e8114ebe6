/**
 * What the bearer of a token may know. With the capability for everything it sees everything, including what rules deny.
 * Any other token sees what its calls would find.
 */
import { type Caller, type Runtime, TurnbuckleError } from 'turnbuckle';
import { inSlices, type Steps } from 'turnbuckle/host';
import type { RequestContext } from '../http/request-context.js';
import { hostOrCaller } from '../identity/host-or-caller.js';
import { knowsServer } from '../identity/knows-server.js';

type Decider = Pick<
  Runtime,
  'decide' | 'mayKnow' | 'toolsForAgent' | 'catalog' | 'rules' | 'serverNames' | 'serverStatus'
>;

/** A server, or an item of a server. */
export interface VisibilityTarget {
  readonly server: string;
  readonly tool?: string | undefined;
  readonly kind?: 'tool' | 'resource' | 'prompt' | undefined;
  /** False: a call did not find it, or may not have. */
  readonly wasFound?: boolean | undefined;
}

/** The outcome of a call, as recorded. */
interface CallEnd {
  readonly decision?: string | undefined;
  readonly code?: string | undefined;
}

const UNKNOWN_CODES: ReadonlySet<string> = new Set(['TOOL_UNKNOWN', 'RESOURCE_UNKNOWN', 'PROMPT_UNKNOWN']);

/** Whether the item existed for its caller. The log has the same condition for its queries. */
export const wasFound = ({ decision, code = '' }: CallEnd): boolean =>
  (decision === 'allow' || decision === 'ask' || code === 'CALL_DENIED') && !UNKNOWN_CODES.has(code);

export class Visibility {
  readonly #runtime: Decider;
  readonly #caller: Caller;
  readonly isUnrestricted: boolean;

  constructor(runtime: Decider, caller: Caller) {
    this.#runtime = runtime;
    this.#caller = caller;
    this.isUnrestricted =
      hostOrCaller(caller) === undefined || caller.capabilities.includes('mcp_integration');
  }

  /** For lists that core filters itself: undefined means unrestricted. */
  get caller(): Caller | undefined {
    return this.isUnrestricted ? undefined : this.#caller;
  }

  canSee({ server, tool, kind = 'tool', wasFound: isFound = true }: VisibilityTarget): boolean {
    if (this.isUnrestricted) return true;
    if (tool === undefined) return this.#canSeeServer(server);
    // Calls of hidden and of missing items end alike, so neither is shown.
    if (!isFound && !this.isListedTool({ server, tool, kind })) return false;
    return this.#runtime.mayKnow({ server, tool, kind, caller: this.#caller });
  }

  /** The visible items. Each is authorized, and there may be many, so it runs in slices. */
  async visibleOf<Item>(
    items: readonly Item[],
    toSeen: (item: Item) => VisibilityTarget,
  ): Promise<readonly Item[]> {
    return this.isUnrestricted ? items : inSlices(this.#visibleSteps(items, toSeen));
  }

  *#visibleSteps<Item>(
    items: readonly Item[],
    toSeen: (item: Item) => VisibilityTarget,
  ): Steps<readonly Item[]> {
    const seen: Item[] = [];
    for (const item of items) {
      if (this.canSee(toSeen(item))) seen.push(item);
      yield;
    }
    return seen;
  }

  /** Whether the tool currently exists. */
  isListedTool({ server, tool = '', kind = 'tool' }: VisibilityTarget): boolean {
    return kind === 'tool' && this.#runtime.catalog.find(server, tool) !== undefined;
  }

  /** The tools that currently exist. */
  listedTools(): ReadonlyArray<{ readonly server: string; readonly tool: string; readonly kind: string }> {
    return this.#runtime.catalog.list().map(({ server, tool }) => ({ server, tool, kind: 'tool' }));
  }

  /** SERVER_UNKNOWN for a hidden server, as for one that does not exist. */
  requireServer(name: string): void {
    if (!this.canSee({ server: name }) || !this.#runtime.serverNames().includes(name))
      throw new TurnbuckleError('SERVER_UNKNOWN', `There is no server named "${name}".`, {
        server: name,
        hint: 'List servers: GET /api/servers.',
      });
  }

  /** Either the capability for the server is enough, or one of its items has to be visible. */
  #canSeeServer(server: string): boolean {
    const caller = this.#caller;
    if (!this.#runtime.decide({ server, tool: '', caller }).hidden) return true;
    return knowsServer(this.#runtime, server, caller);
  }
}

/** What the caller of a request may know. */
export const visibilityOf = (runtime: Decider, { caller }: RequestContext): Visibility =>
  new Visibility(runtime, caller);

/** ACCESS_DENIED for a restricted token: the route covers everything. */
export function requireUnrestricted(runtime: Decider, context: RequestContext): void {
  if (visibilityOf(runtime, context).isUnrestricted) return;
  throw new TurnbuckleError(
    'ACCESS_DENIED',
    'This route covers all servers, but the token is limited to some of them.',
    {
      hint: 'Use a token with the capability mcp_integration.',
    },
  );
}
