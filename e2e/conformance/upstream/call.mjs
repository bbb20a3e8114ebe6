// Types and helpers of this server's tools, resources and prompts.
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
export const textResult = (text) => ({ content: [{ type: 'text', text }] });

/**
 * The answers that the request contains; empty if there are none.
 * @param {Call} call
 * @returns {Record<string, unknown>}
 */
export const answersOf = ({ context }) => context.mcpReq.inputResponses ?? {};

/**
 * The content of the form with this key; undefined if it was not accepted.
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
 * The client's capabilities in the request; undefined in the older revision, where only `initialize` has them.
 * @param {Call} call
 */
export function offeredBy({ context }) {
  // The SDK's type does not name the keys of this revision.
  const envelope =
    /** @type {Record<string, import('@modelcontextprotocol/server').ClientCapabilities> | undefined} */ (
      context.mcpReq.envelope
    );
  return envelope?.[CLIENT_CAPABILITIES_META_KEY];
}
