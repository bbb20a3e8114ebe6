/** A client with a valid token that calls a tool at a steady rate, over every route. */
import type { SoakDaemon, SoakResponse } from './attacks-daemon.js';

const PACE_MS = 20;
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

export interface Sample {
  readonly route: string;
  readonly ms: number;
  /** Why the call failed. */
  readonly fault: string | undefined;
}

type CallRoute = (text: string) => Promise<SoakResponse>;

export class HealthyClient {
  readonly #routes: Readonly<Record<string, CallRoute>>;

  private constructor(routes: Readonly<Record<string, CallRoute>>) {
    this.#routes = routes;
  }

  /** Resolves when a call has succeeded over each route. */
  static async open(daemon: SoakDaemon, server: string): Promise<HealthyClient> {
    const client = new HealthyClient({
      bridge: bridgeRoute(daemon, server),
      modern: modernRoute(daemon, server),
      legacy: await legacyRoute(daemon, server),
    });
    for (const [route, call] of Object.entries(client.#routes)) {
      const { fault } = await measure(route, call, 'first');
      if (fault !== undefined) throw new Error(`${route}: ${fault}`);
    }
    return client;
  }

  /** Calls over each route every 20 ms, without waiting for earlier calls, until `work` has ended. */
  async callDuring(work: Promise<unknown>): Promise<readonly Sample[]> {
    const samples: Array<Promise<Sample>> = [];
    const timer = setInterval(() => {
      for (const [route, call] of Object.entries(this.#routes))
        samples.push(measure(route, call, `${route} ${samples.length}`));
    }, PACE_MS);
    try {
      await work;
    } finally {
      clearInterval(timer);
    }
    return Promise.all(samples);
  }
}

async function measure(route: string, call: CallRoute, text: string): Promise<Sample> {
  const began = performance.now();
  try {
    const { status, json } = await call(text);
    const ms = performance.now() - began;
    // The result belongs to this call and not to another one.
    const isRight = status === 200 && JSON.stringify(json.result ?? '').includes(JSON.stringify(text));
    return { route, ms, fault: isRight ? undefined : `${status} ${JSON.stringify(json)}` };
  } catch (error) {
    return { route, ms: performance.now() - began, fault: String(error) };
  }
}

/** Each call uses a new connection: the daemon must still accept new connections. */
function bridgeRoute(daemon: SoakDaemon, server: string): CallRoute {
  return (text) =>
    daemon.ask('/mcp/call', { isKept: false, body: { server, tool_name: 'echo', arguments: { text } } });
}

const toCall = (id: number, params: object): object => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
const ACCEPT = { accept: 'application/json, text/event-stream' };

function modernRoute(daemon: SoakDaemon, server: string): CallRoute {
  const name = `${server}_echo`;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = {
    ...ACCEPT,
    'mcp-protocol-version': MODERN,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  let id = 0;
  return (text) => {
    id += 1;
    return daemon.ask('/mcp', { headers, body: toCall(id, { name, arguments: { text }, _meta }) });
  };
}

async function legacyRoute(daemon: SoakDaemon, server: string): Promise<CallRoute> {
  const clientInfo = { name: 'healthy', version: '1' };
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
  const { session = '' } = await daemon.ask('/mcp', {
    headers: ACCEPT,
    body: { jsonrpc: '2.0', id: 0, method: 'initialize', params },
  });
  const headers = { ...ACCEPT, 'mcp-session-id': session, 'mcp-protocol-version': LEGACY };
  const name = `${server}_echo`;
  let id = 0;
  return (text) => {
    id += 1;
    return daemon.ask('/mcp', { headers, body: toCall(id, { name, arguments: { text } }) });
  };
}
