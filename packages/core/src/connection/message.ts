/** From a line of text to a JSON-RPC message, or to nothing: exact keys, junk ignored. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** The message in a line; undefined when the line is not one (a banner, a log line, a broken answer). */
export function parseMessage(line: string): JSONRPCMessage | undefined {
  const start = line.charCodeAt(0) === 0xfeff ? 1 : 0;
  const first = line.charCodeAt(start);
  if (first !== 123 && first > 32) return undefined; // neither `{` nor white space before one
  let value: unknown;
  try {
    value = JSON.parse(start === 0 ? line : line.slice(start));
  } catch {
    return undefined;
  }
  return isMessage(value) ? value : undefined;
}

export function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

/** Walks level by level, so that depth costs no stack. */
export function isDeeperThan(root: object, maxDepth: number): boolean {
  let level: object[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    const next: object[] = [];
    for (const node of level) {
      for (const child of Object.values(node))
        if (typeof child === 'object' && child !== null) next.push(child);
    }
    level = next;
  }
  return false;
}
