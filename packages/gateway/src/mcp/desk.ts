/** What all endpoints of a daemon share, one for each view: its surface, calls that wait, news of changes. */
import type { Caller, Runtime } from 'turnbuckle';
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
  const { capabilities: most } = surface.view.options;
  const narrowed =
    most === undefined ? caller : { ...caller, capabilities: lesser(caller.capabilities, most) };
  return run === undefined ? narrowed : { ...narrowed, run };
}

/** Who may do everything may do what the view gives. */
const lesser = (held: readonly string[], most: readonly string[]): readonly string[] =>
  held.includes('mcp_integration') ? most : held.filter((word) => most.includes(word));

/** What is offered to clients of every revision. */
export function capabilitiesOf({ runtime, surface }: Desk): Record<string, unknown> {
  const extensions: Record<string, unknown> = {};
  for (const { name, capabilities } of runtime.status()) {
    if (!surface.view.hasServer(name)) continue;
    Object.assign(extensions, capabilities?.extensions);
  }
  return {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    ...(Object.keys(extensions).length > 0 && { extensions }),
  };
}

/** The words of the only server; of several nothing, since they are strangers' words to the model. */
export function instructionsOf({ runtime, surface }: Desk): string | undefined {
  const [only, ...others] = runtime.status().filter(({ name }) => surface.view.hasServer(name));
  return others.length === 0 ? only?.instructions : undefined;
}
