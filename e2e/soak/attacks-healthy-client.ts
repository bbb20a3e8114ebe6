/** A client with a good token that calls a tool at a steady pace, in every way there is. */
import type { Answer, SoakDaemon } from './attacks-daemon.js';

const PACE_MS = 20;
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';

export interface Sample {
  readonly way: string;
  readonly ms: number;
  /** Why it was no success. */
  readonly fault: string | undefined;
}

type Way = (text: string) => Promise<Answer>;

export class HealthyClient {
  readonly #ways: Readonly<Record<string, Way>>;

  private constructor(ways: Readonly<Record<string, Way>>) {
    this.#ways = ways;
  }

  /** Resolves when a tool of that server has answered in each way. */
  static async open(daemon: SoakDaemon, server: string): Promise<HealthyClient> {
    const client = new HealthyClient({
      bridge: bridgeWay(daemon, server),
      modern: modernWay(daemon, server),
      legacy: await legacyWay(daemon, server),
    });
    for (const [way, call] of Object.entries(client.#ways)) {
      const { fault } = await measure(way, call, 'first');
      if (fault !== undefined) throw new Error(`${way}: ${fault}`);
    }
    return client;
  }

  /** Calls in each way every 20 ms, whether or not the one before was answered, until this has ended. */
  async callDuring(work: Promise<unknown>): Promise<readonly Sample[]> {
    const samples: Array<Promise<Sample>> = [];
    const timer = setInterval(() => {
      for (const [way, call] of Object.entries(this.#ways))
        samples.push(measure(way, call, `${way} ${samples.length}`));
    }, PACE_MS);
    try {
      await work;
    } finally {
      clearInterval(timer);
    }
    return Promise.all(samples);
  }
}

async function measure(way: string, call: Way, text: string): Promise<Sample> {
  const began = performance.now();
  try {
    const { status, json } = await call(text);
    const ms = performance.now() - began;
    // The answer of this call and not that of another one.
    const isRight = status === 200 && JSON.stringify(json.result ?? '').includes(JSON.stringify(text));
    return { way, ms, fault: isRight ? undefined : `${status} ${JSON.stringify(json)}` };
  } catch (error) {
    return { way, ms: performance.now() - began, fault: String(error) };
  }
}

/** Each call over a connection of its own: also whoever comes anew is let in. */
function bridgeWay(daemon: SoakDaemon, server: string): Way {
  return (text) =>
    daemon.ask('/mcp/call', { isKept: false, body: { server, tool_name: 'echo', arguments: { text } } });
}

const toCall = (id: number, params: object): object => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
const ACCEPT = { accept: 'application/json, text/event-stream' };

function modernWay(daemon: SoakDaemon, server: string): Way {
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

async function legacyWay(daemon: SoakDaemon, server: string): Promise<Way> {
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
