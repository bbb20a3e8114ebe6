/** Servers that send whatever a test tells them to, over every transport. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ServerInput } from 'turnbuckle';

export type RawTransport = 'stdio' | 'websocket' | 'http' | 'sse' | 'in-process';
export const RAW_TRANSPORTS: readonly RawTransport[] = ['stdio', 'websocket', 'http', 'sse', 'in-process'];

export interface RawServer {
  readonly config: ServerInput;
  stop(): void;
}

const PROGRAM = fileURLToPath(new URL('./servers/raw-lines.mjs', import.meta.url));

export async function rawServer(transport: RawTransport, more: readonly string[] = []): Promise<RawServer> {
  if (transport === 'in-process')
    return { config: { server: { connect: answerInProcess } } as ServerInput, stop: () => {} };
  if (transport === 'stdio')
    return {
      config: { command: process.execPath, args: [PROGRAM, 'stdio', ...more], era: 'legacy' },
      stop: () => {},
    };
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, transport, ...more], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  const port = String(line).replace('READY ', '');
  const url = transport === 'websocket' ? `ws://127.0.0.1:${port}` : `http://127.0.0.1:${port}/mcp`;
  return {
    config: { type: transport, url, era: 'legacy', reconnect: { initialMs: 20 } } as ServerInput,
    stop: () => void child.kill(),
  };
}

/** The same server as an object: it skips lines that are not JSON, as it sends values and not text. */
async function answerInProcess(transport: Transport): Promise<void> {
  const send = (message: unknown): Promise<void> => transport.send(message as JSONRPCMessage);
  transport.onmessage = (message) => {
    if (!('id' in message) || !('method' in message)) return;
    const { id, method, params = {} } = message;
    const answer = (result: object): Promise<void> => send({ jsonrpc: '2.0', id, result });
    if (method === 'initialize')
      return void answer({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'raw', version: '1' },
      });
    if (method === 'tools/list')
      return void answer({
        tools: ['say', 'echo'].map((name) => ({ name, inputSchema: { type: 'object' } })),
      });
    if (method === 'ping') return void answer({});
    if (method !== 'tools/call')
      return void send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } });
    const { lines = [], silent = false, text = 'said' } = params.arguments as SayArguments;
    for (const line of lines) {
      try {
        void send(JSON.parse(line.replaceAll('$ID', JSON.stringify(id))));
      } catch {
        // Not JSON.
      }
    }
    if (!silent) void answer({ content: [{ type: 'text', text }] });
  };
  await transport.start();
}

export interface SayArguments {
  readonly lines?: readonly string[];
  /** Sends no result of its own: the lines contain it. */
  readonly silent?: boolean;
  readonly text?: string;
}
