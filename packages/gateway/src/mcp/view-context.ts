/** What all endpoints share, one for each view: its dispatcher, parked calls and change notifications. */
import type { Caller, Runtime, ServerStatus } from 'turnbuckle';
import { hostOrCaller } from '../identity/host-or-caller.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { ChangeNotifier } from './change-notifier.js';
import type { McpDispatcher } from './dispatcher.js';
import type { ParkedCalls } from './modern/parked-calls.js';
import type { Params } from './protocol/protocol.js';

export interface ViewContext {
  readonly runtime: Runtime;
  readonly dispatcher: McpDispatcher;
  readonly parked: ParkedCalls;
  readonly changes: ChangeNotifier;
  readonly serverInfo: Params;
  readonly telemetry?: Telemetry | undefined;
}

/** A view limits every caller, in addition to what limits it already; it never gives a capability. */
export function callerInView({ dispatcher }: ViewContext, caller: Caller, run?: string): Caller {
  const { limits } = dispatcher.view;
  if (limits === undefined) return run === undefined ? caller : { ...caller, run };
  return {
    ...caller,
    ...(run !== undefined && { run }),
    ...(hostOrCaller(caller) === undefined && { isHost: true }),
    limits: caller.limits === undefined ? limits : limitsOfBoth(limits, caller.limits),
  };
}

type Limits = NonNullable<Caller['limits']>;

const combinedLimits = new WeakMap<Limits, WeakMap<Limits, Limits>>();

/** The same object each time: lists are cached by it. A caller outside of views has no limits but its capabilities. */
function limitsOfBoth(view: Limits, own: Limits): Limits {
  const known = combinedLimits.get(view) ?? new WeakMap<Limits, Limits>();
  combinedLimits.set(view, known);
  const capabilities = [...(own.capabilities ?? []), ...(view.capabilities ?? [])];
  const both = known.get(own) ?? { ...view, capabilities };
  known.set(own, both);
  return both;
}

/** The capabilities offered to clients of every revision. */
export function capabilitiesOf(viewContext: ViewContext, caller: Caller): Record<string, unknown> {
  const extensions: Record<string, unknown> = {};
  const servers = serversFor(viewContext, caller);
  for (const { capabilities } of servers) Object.assign(extensions, capabilities?.extensions);
  const experimental = viewContext.runtime.routeThrough(servers);
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

/** The instructions of the only server; of several none, since they are untrusted text for the model. */
export function instructionsOf(viewContext: ViewContext, caller: Caller): string | undefined {
  const [only, ...others] = serversFor(viewContext, caller);
  return others.length === 0 ? only?.instructions : undefined;
}

/** The servers of the view that the caller may know of. */
const serversFor = ({ runtime, dispatcher }: ViewContext, caller: Caller): ServerStatus[] =>
  runtime.status().filter(({ name }) => dispatcher.knowsServer(name, caller));
