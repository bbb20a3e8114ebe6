/** From a line of text to a JSON-RPC message, or to nothing: exact keys, bounded depth, junk ignored. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

export interface ParseLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/** Below this length no document can nest deep enough to exhaust a stack. */
const DEPTH_MATTERS_FROM = 8_192;

/** The message in a line; undefined when the line is not one (a banner, a log line, a broken answer). */
export function parseMessage(line: string, limits: ParseLimits): JSONRPCMessage | undefined {
  const start = line.charCodeAt(0) === 0xfeff ? 1 : 0;
  const first = line.charCodeAt(start);
  if (first !== 123 && first > 32) return undefined; // neither `{` nor white space before one
  let value: unknown;
  try {
    value = JSON.parse(start === 0 ? line : line.slice(start));
  } catch {
    return undefined;
  }
  if (!isMessage(value)) return undefined;
  if (line.length > DEPTH_MATTERS_FROM && isDeeperThan(value, limits.maxDepth)) return tooDeep(value);
  return value;
}

export function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

/** An answer nested too deep still settles its request, as an error. */
function tooDeep(message: JSONRPCMessage): JSONRPCMessage | undefined {
  if (!('id' in message) || message.id === undefined || 'method' in message) return undefined;
  return {
    jsonrpc: '2.0',
    id: message.id,
    error: { code: -32603, message: 'The answer is nested too deep' },
  };
}

function isDeeperThan(root: unknown, maxDepth: number): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    const next: unknown[] = [];
    for (const node of level) {
      for (const child of Object.values(node as object))
        if (typeof child === 'object' && child !== null) next.push(child);
    }
    level = next;
  }
  return false;
}
