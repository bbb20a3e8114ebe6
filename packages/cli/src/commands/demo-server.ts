/** A small MCP server of both revisions, written out, so that the daemon has something to show without installing anything. */
import { createInterface } from 'node:readline';
import { MODERN_REVISION, SERVED_REVISIONS } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { DEMO_TOOLS } from '../serve/demo-tools.js';

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

const INFO = { name: 'turnbuckle-demo', version: '1.0.0' };
const CAPABILITIES = { tools: {} };
/** The definitions never change. */
const CACHE_HINTS = { ttlMs: 3_600_000, cacheScope: 'public' };

export async function run({ signal }: CommandContext): Promise<void> {
  const lines = createInterface({ input: process.stdin, signal });
  const send = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);
  for await (const line of lines) {
    if (line.trim() !== '') handleLine(line, send);
  }
}

function handleLine(line: string, send: (message: object) => void): void {
  const message = parse(line);
  if (message === undefined)
    return send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
  const { id } = message;
  // Notices want no answer.
  if (id === undefined || message.method === undefined) return;
  try {
    send({ jsonrpc: '2.0', id, result: handleRequest(message) });
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
function handleRequest({ method, params = {} }: Message): object {
  const asked = recordOf(params._meta)['io.modelcontextprotocol/protocolVersion'];
  if (asked !== undefined && asked !== MODERN_REVISION)
    throw {
      code: -32022,
      message: 'Unsupported protocol version',
      data: { supported: [MODERN_REVISION], requested: asked },
    };
  // Only the newer revision says what kind of result it is; older clients pass over it.
  const complete = asked === undefined && method !== 'server/discover' ? {} : { resultType: 'complete' };
  switch (method) {
    case 'server/discover': {
      const _meta = { 'io.modelcontextprotocol/serverInfo': INFO };
      return {
        ...complete,
        supportedVersions: [MODERN_REVISION],
        capabilities: CAPABILITIES,
        ...CACHE_HINTS,
        _meta,
      };
    }
    case 'initialize': {
      const wanted = String(params.protocolVersion);
      const protocolVersion = SERVED_REVISIONS.includes(wanted) ? wanted : SERVED_REVISIONS[0];
      return { protocolVersion, capabilities: CAPABILITIES, serverInfo: INFO };
    }
    case 'ping':
      return {};
    case 'tools/list': {
      const tools = [...DEMO_TOOLS.values()].map(({ definition }) => definition);
      return { ...complete, tools, ...(asked !== undefined && CACHE_HINTS) };
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
