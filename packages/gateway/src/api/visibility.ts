/**
 * What the bearer of a token may know. Whoever has the capability for everything sees everything, also what rules
 * deny: such people run the daemon. Anybody else sees what a call of theirs would find.
 */
import { type Caller, inSlices, type Runtime, type Steps, TurnbuckleError } from 'turnbuckle';
import { hostOrCaller } from '../host-or-caller.js';
import type { Visit } from '../http/visit.js';
import { knowsServer } from '../knows-server.js';

type Decider = Pick<
  Runtime,
  'decide' | 'mayKnow' | 'toolsForAgent' | 'catalog' | 'rules' | 'serverNames' | 'serverStatus'
>;

/** Something that has a server, and perhaps a name there. */
export interface Seen {
  readonly server: string;
  readonly tool?: string | undefined;
  readonly kind?: 'tool' | 'resource' | 'prompt' | undefined;
  /** False: a call looked for it in vain, or may have. */
  readonly wasFound?: boolean | undefined;
}

/** How a call ended, as its record has it. */
interface Ended {
  readonly decision?: string | undefined;
  readonly code?: string | undefined;
}

const UNKNOWN: ReadonlySet<string> = new Set(['TOOL_UNKNOWN', 'RESOURCE_UNKNOWN', 'PROMPT_UNKNOWN']);

/** Whether there was something for its caller. The log has the same condition, for its queries. */
export const wasFound = ({ decision, code = '' }: Ended): boolean =>
  (decision === 'allow' || decision === 'ask' || code === 'CALL_DENIED') && !UNKNOWN.has(code);

export class Sight {
  readonly #runtime: Decider;
  readonly #caller: Caller;
  readonly isWhole: boolean;

  constructor(runtime: Decider, caller: Caller) {
    this.#runtime = runtime;
    this.#caller = caller;
    this.isWhole = hostOrCaller(caller) === undefined || caller.capabilities.includes('mcp_integration');
  }

  /** For lists that core filters itself: undefined is everybody's view. */
  get caller(): Caller | undefined {
    return this.isWhole ? undefined : this.#caller;
  }

  sees({ server, tool, kind = 'tool', wasFound: isFound = true }: Seen): boolean {
    if (this.isWhole) return true;
    if (tool === undefined) return this.#seesServer(server);
    // A call of what is hidden and one of what is not there end alike, and neither is told of.
    if (!isFound && !this.lists({ server, tool, kind })) return false;
    return this.#runtime.mayKnow({ server, tool, kind, caller: this.#caller });
  }

  /** Those that may be known of. Each is decided about, and there may be many: others get a turn in between. */
  async seenOf<Item>(items: readonly Item[], toSeen: (item: Item) => Seen): Promise<readonly Item[]> {
    return this.isWhole ? items : inSlices(this.#seenSteps(items, toSeen));
  }

  *#seenSteps<Item>(items: readonly Item[], toSeen: (item: Item) => Seen): Steps<readonly Item[]> {
    const seen: Item[] = [];
    for (const item of items) {
      if (this.sees(toSeen(item))) seen.push(item);
      yield;
    }
    return seen;
  }

  /** Whether it is a tool that is there now. */
  lists({ server, tool = '', kind = 'tool' }: Seen): boolean {
    return kind === 'tool' && this.#runtime.catalog.find(server, tool) !== undefined;
  }

  /** A server that may not be known of is not there: SERVER_UNKNOWN. */
  requireServer(name: string): void {
    if (!this.sees({ server: name }) || !this.#runtime.serverNames().includes(name))
      throw new TurnbuckleError('SERVER_UNKNOWN', `There is no server named "${name}".`, {
        server: name,
        hint: 'GET /api/servers lists those that there are.',
      });
  }

  /** Either the word for the server is enough, or something of it has to be visible. */
  #seesServer(server: string): boolean {
    const caller = this.#caller;
    if (!this.#runtime.decide({ server, tool: '', caller }).hidden) return true;
    return knowsServer(this.#runtime, server, caller);
  }
}

/** Looking at one request. */
export const sightOf = (runtime: Decider, { caller }: Visit): Sight => new Sight(runtime, caller);

/** ACCESS_DENIED for who may know only a part: what follows is about all of it. */
export function requireWhole(runtime: Decider, visit: Visit): void {
  if (sightOf(runtime, visit).isWhole) return;
  throw new TurnbuckleError(
    'ACCESS_DENIED',
    'This is about all servers, and the token is for some of them.',
    {
      hint: 'Use a token with the capability mcp_integration.',
    },
  );
}
