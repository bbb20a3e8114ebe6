/** What all endpoints of a daemon share, one for each view: its surface, calls that wait, news of changes. */
import type { Caller, Runtime, ServerStatus } from 'turnbuckle';
import { hostOrCaller } from '../host-or-caller.js';
import type { Changes } from './changes.js';
import type { ParkedCalls } from './parked-calls.js';
import type { Params } from './protocol.js';
import type { Surface } from './surface.js';

export interface Desk {
  readonly runtime: Runtime;
  readonly surface: Surface;
  readonly parked: ParkedCalls;
  readonly changes: Changes;
  readonly serverInfo: Params;
}

/** Nobody gets more from a view than it gives. */
export function callerIn({ surface }: Desk, caller: Caller, run?: string): Caller {
  const { limits } = surface.view;
  if (limits === undefined) return run === undefined ? caller : { ...caller, run };
  const { capabilities: most } = limits;
  return {
    ...caller,
    ...(run !== undefined && { run }),
    ...(most !== undefined && { capabilities: lesser(caller.capabilities, most) }),
    ...(hostOrCaller(caller) === undefined && { isHost: true }),
    limits,
  };
}

/** Who may do everything may do what the view gives. */
export const lesser = (held: readonly string[], most: readonly string[]): readonly string[] =>
  held.includes('mcp_integration') ? most : held.filter((word) => most.includes(word));

/** What is offered to clients of every revision. */
export function capabilitiesOf(desk: Desk, caller: Caller): Record<string, unknown> {
  const extensions: Record<string, unknown> = {};
  const servers = serversFor(desk, caller);
  for (const { capabilities } of servers) Object.assign(extensions, capabilities?.extensions);
  const experimental = desk.runtime.routeThrough(servers);
  return {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    ...(Object.keys(extensions).length > 0 && { extensions }),
    ...(Object.keys(experimental).length > 0 && { experimental }),
  };
}

/** The words of the only server; of several nothing, since they are strangers' words to the model. */
export function instructionsOf(desk: Desk, caller: Caller): string | undefined {
  const [only, ...others] = serversFor(desk, caller);
  return others.length === 0 ? only?.instructions : undefined;
}

/** Those of the view that the caller may know of. */
const serversFor = ({ runtime, surface }: Desk, caller: Caller): ServerStatus[] =>
  runtime.status().filter(({ name }) => surface.knowsServer(name, caller));
