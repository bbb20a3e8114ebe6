/**
 * Which gateways stand behind a server, as it says in its capabilities: enough to see that one of them is this one.
 * It is in the answer to the handshake, and not in what we send, because gateways share their connections: what one
 * asks another is not sent on, but what it has behind it, it knows.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';

export interface GatewayRoute {
  /** Made up by each gateway at its start. */
  readonly instances: readonly string[];
  /** The longest way through gateways, the answering one included. */
  readonly hops: number;
}

/** The key in `capabilities.experimental`. */
const KEY = 'turnbuckle/route';
const MAX_HOPS = 4;
const MAX_INSTANCES = 64;
const MAX_ID = 64;

type Capabilities = Readonly<Record<string, unknown>> | undefined;

/** What a gateway says of itself, and of those behind the servers that it offers. */
export function routeFrom(instance: string, behind: readonly Capabilities[]): Record<string, unknown> {
  const routes = behind.map(routeOf);
  const instances = new Set([instance, ...routes.flatMap((route) => route.instances)]);
  const hops = 1 + Math.max(0, ...routes.map((route) => route.hops));
  return { [KEY]: { instances: [...instances].slice(0, MAX_INSTANCES), hops } };
}

/** Throws GATEWAY_LOOP when the server leads back to this instance, or is too far away to make sense. */
export function checkRoute(server: string, capabilities: Capabilities, own: string | undefined): void {
  const { instances, hops } = routeOf(capabilities);
  if (own !== undefined && instances.includes(own))
    throw new TurnbuckleError('GATEWAY_LOOP', `Server "${server}" leads back to this gateway.`, {
      server,
      hint: `Take it out of the configuration: turnbuckle remove ${server}`,
    });
  if (hops >= MAX_HOPS)
    throw new TurnbuckleError('GATEWAY_LOOP', `Server "${server}" has ${hops} gateways behind each other.`, {
      server,
      hint: 'Connect to the last of them directly.',
    });
}

/** A server's own word: what has not the shape counts for nothing. */
function routeOf(capabilities: Capabilities): GatewayRoute {
  const { experimental } = capabilities ?? {};
  const told = isRecord(experimental) ? experimental[KEY] : undefined;
  if (!isRecord(told) || !Array.isArray(told.instances)) return { instances: [], hops: 0 };
  const instances = told.instances
    .slice(0, MAX_INSTANCES)
    .filter((id): id is string => typeof id === 'string' && id.length <= MAX_ID);
  const hops = Number.isInteger(told.hops) ? Math.max(Number(told.hops), 0) : 1;
  return { instances, hops };
}
