// What the tools, resources and prompts of this server are made of.
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';

/**
 * @typedef {import('@modelcontextprotocol/server').ServerContext} Context
 * @typedef {import('@modelcontextprotocol/server').CallToolResult} CallToolResult
 * @typedef {import('@modelcontextprotocol/server').InputRequiredResult} InputRequiredResult
 * @typedef {Record<string, unknown>} Arguments
 * @typedef {{ context: Context, world: import('./world.mjs').World }} Call
 * @typedef {import('@modelcontextprotocol/server').Tool['inputSchema']} InputSchema
 * @typedef {{
 *   inputSchema?: InputSchema,
 *   run: (args: Arguments, call: Call) => CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>,
 * }} Tool
 * @typedef {Record<string, Tool>} Tools
 */

export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
export const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

/**
 * @param {string} text
 * @returns {CallToolResult}
 */
export const say = (text) => ({ content: [{ type: 'text', text }] });

/**
 * The answers that came with a request, or an empty list of them.
 * @param {Call} call
 * @returns {Record<string, unknown>}
 */
export const answersOf = ({ context }) => context.mcpReq.inputResponses ?? {};

/**
 * What the form with this key was filled in with; undefined when it was not.
 * @param {Call} call
 * @param {string} key
 * @returns {Record<string, unknown> | undefined}
 */
export function filledIn(call, key) {
  const answer = answersOf(call)[key];
  if (typeof answer !== 'object' || answer === null || !('action' in answer)) return undefined;
  if (answer.action !== 'accept') return undefined;
  return 'content' in answer && typeof answer.content === 'object'
    ? { .../** @type {Record<string, unknown>} */ (answer.content) }
    : {};
}

/**
 * What the client says that it can do; undefined in the older revision, where it said so once.
 * @param {Call} call
 */
export function offeredBy({ context }) {
  // The SDK's type leaves the keys of the revision open.
  const envelope =
    /** @type {Record<string, import('@modelcontextprotocol/server').ClientCapabilities> | undefined} */ (
      context.mcpReq.envelope
    );
  return envelope?.[CLIENT_CAPABILITIES_META_KEY];
}
