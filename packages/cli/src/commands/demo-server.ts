/** A small MCP server of both revisions, written out, so that the daemon has something to show without installing anything. */
import { createInterface } from 'node:readline';
import type { CommandContext } from '../command.js';
import { DEMO_TOOLS } from '../daemon/demo-tools.js';

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

const MODERN = '2026-07-28';
const OLDER = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const INFO = { name: 'turnbuckle-demo', version: '1.0.0' };
const CAPABILITIES = { tools: {} };
/** The definitions never change. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'public' };

export async function run({ signal }: CommandContext): Promise<void> {
  const lines = createInterface({ input: process.stdin, signal });
  const send = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
  for await (const line of lines) {
    if (line.trim() !== '') take(line, send);
  }
}

function take(line: string, send: (message: object) => void): void {
  const message = parse(line);
  if (message === undefined)
    return send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'This is not JSON' } });
  const { id } = message;
  // Notices want no answer.
  if (id === undefined || message.method === undefined) return;
  try {
    send({ jsonrpc: '2.0', id, result: answer(message) });
  } catch (error) {
    send({ jsonrpc: '2.0', id, error });
  }
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return undefined;
  }
}

/** The result; throws the error of the protocol. */
function answer({ method, params = {} }: Message): object {
  const asked = recordOf(params._meta)['io.modelcontextprotocol/protocolVersion'];
  if (asked !== undefined && asked !== MODERN)
    throw {
      code: -32022,
      message: 'Unsupported protocol version',
      data: { supported: [MODERN], requested: asked },
    };
  // Only the newer revision says what kind of result it is; older clients pass over it.
  const complete = asked === undefined && method !== 'server/discover' ? {} : { resultType: 'complete' };
  switch (method) {
    case 'server/discover': {
      const _meta = { 'io.modelcontextprotocol/serverInfo': INFO };
      return { ...complete, supportedVersions: [MODERN], capabilities: CAPABILITIES, ...CACHING, _meta };
    }
    case 'initialize': {
      const wanted = String(params.protocolVersion);
      const protocolVersion = OLDER.includes(wanted) ? wanted : OLDER[0];
      return { protocolVersion, capabilities: CAPABILITIES, serverInfo: INFO };
    }
    case 'ping':
      return {};
    case 'tools/list': {
      const tools = [...DEMO_TOOLS.values()].map(({ definition }) => definition);
      return { ...complete, tools, ...(asked !== undefined && CACHING) };
    }
    case 'tools/call': {
      const tool = DEMO_TOOLS.get(String(params.name));
      if (tool === undefined) throw { code: -32602, message: `There is no tool "${String(params.name)}"` };
      return { ...complete, ...tool.call(recordOf(params.arguments)) };
    }
    default:
      throw { code: -32601, message: `Method not found: ${method}` };
  }
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
