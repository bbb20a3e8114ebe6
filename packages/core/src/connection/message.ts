/** From a line of text to a JSON-RPC message, or to nothing: exact keys, junk ignored. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseSpelled } from '../json/spelling.js';

/** A request of the server's. */
export type ServerQuestion = Extract<JSONRPCMessage, { method: string; id: unknown }>;

/** The message in a line; undefined when the line is not one (a banner, a log line, a broken answer). */
export function parseMessage(line: string): JSONRPCMessage | undefined {
  const start = line.charCodeAt(0) === 0xfeff ? 1 : 0;
  const first = line.charCodeAt(start);
  if (first !== 123 && first > 32) return undefined; // neither `{` nor white space before one
  let value: unknown;
  try {
    value = parseSpelled(start === 0 ? line : line.slice(start));
  } catch {
    return undefined;
  }
  return isMessage(value) ? value : undefined;
}

export function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

/** Recursion goes no deeper than the limit, so that depth costs no stack. */
export function isDeeperThan(node: object, maxDepth: number): boolean {
  if (maxDepth < 0) return true;
  for (const key in node) {
    const child: unknown = Reflect.get(node, key);
    if (typeof child === 'object' && child !== null && isDeeperThan(child, maxDepth - 1)) return true;
  }
  return false;
}
