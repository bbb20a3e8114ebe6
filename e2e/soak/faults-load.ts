/** A steady load of calls by one agent, through a daemon or directly at a server. */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type SoakResponse, sendRequest } from './attacks-daemon.js';

const VERSION = '2025-11-25';
const TICK_MS = 5;

/** Calls a tool of one MCP endpoint, over kept connections. */
export type CallTool = (name: string, args: object) => Promise<SoakResponse>;

export interface LoadCall {
  readonly server: string;
  readonly send: () => Promise<SoakResponse>;
}

export interface LoadSample {
  readonly server: string;
  readonly ms: number;
  readonly response: SoakResponse | undefined;
  /** Why there is no response. */
  readonly fault: string | undefined;
}

/** A session of the legacy era. */
export async function openEndpoint(url: string, token?: string): Promise<CallTool> {
  const agent = new Agent({ keepAlive: true });
  const accept = { accept: 'application/json, text/event-stream' };
  const clientInfo = { name: 'agent', version: '1' };
  const params = { protocolVersion: VERSION, capabilities: {}, clientInfo };
  const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
  const { session } = await sendRequest(url, { agent, token, headers: accept, body });
  if (session === undefined) throw new Error(`${url} opened no session.`);
  const headers = { ...accept, 'mcp-session-id': session, 'mcp-protocol-version': VERSION };
  let id = 0;
  return (name, args) => {
    id += 1;
    const call = { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
    return sendRequest(url, { agent, token, headers, body: call });
  };
}

async function measure({ server, send }: LoadCall): Promise<LoadSample> {
  const began = performance.now();
  try {
    const response = await send();
    return { server, ms: performance.now() - began, response, fault: undefined };
  } catch (error) {
    return { server, ms: performance.now() - began, response: undefined, fault: String(error) };
  }
}

/** Makes the calls in turn at this rate, without waiting for earlier ones; resolves when the last one has ended. */
export async function callSteadily(
  calls: readonly LoadCall[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<readonly LoadSample[]> {
  const samples: Array<Promise<LoadSample>> = [];
  const total = perSecond * seconds;
  const began = performance.now();
  while (samples.length < total) {
    const due = Math.min(((performance.now() - began) * perSecond) / 1_000, total);
    while (samples.length < due) {
      const next = calls[samples.length % calls.length];
      if (next === undefined) throw new Error('A load needs calls.');
      samples.push(measure(next));
    }
    await delay(TICK_MS);
  }
  return Promise.all(samples);
}
