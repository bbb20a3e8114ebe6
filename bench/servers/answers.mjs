// The protocol of the bare servers: no SDK, no validation, and everything but the echoed text is serialised once,
// so that a run measures the client.
import { createCatalogue } from './catalogue.mjs';

const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const versionKey = 'io.modelcontextprotocol/protocolVersion';
const serverInfo = { name: 'bare', version: '1.0.0' };
const capabilities = { tools: {} };
const methodNotFound = '"error":{"code":-32601,"message":"Method not found"}}';

const discovery = `"result":${JSON.stringify({
  resultType: 'complete',
  ttlMs: 0,
  cacheScope: 'private',
  supportedVersions: ['2026-07-28'],
  capabilities,
  _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
})}}`;

/**
 * The parts of a message that the servers read.
 * @typedef {{ protocolVersion?: string, arguments?: { text: string }, _meta?: Record<string, unknown> }} Params
 * @typedef {{ id?: string | number, method?: string, params?: Params }} Message
 */

/** @param {string} [asked] */
function toHandshake(asked) {
  const protocolVersion = asked !== undefined && legacyVersions.includes(asked) ? asked : legacyVersions[0];
  return `"result":${JSON.stringify({ protocolVersion, capabilities, serverInfo })}}`;
}

/**
 * @param {{ modern: boolean, outputSchemas: boolean }} options
 * @returns {(text: string) => string} the rest of a response to `tools/call`
 */
function createEcho({ modern, outputSchemas }) {
  const kind = modern ? '"resultType":"complete",' : '';
  return (text) => {
    const quoted = JSON.stringify(text);
    const structured = outputSchemas ? `,"structuredContent":{"text":${quoted}}` : '';
    return `"result":{${kind}"content":[{"type":"text","text":${quoted}}]${structured}}}`;
  };
}

/**
 * Returns a function that answers one JSON-RPC message with a line of JSON, or undefined if it needs no response.
 * @param {{ tools: number, outputSchemas: boolean, era: 'legacy' | 'both' }} settings
 * @returns {(message: Message) => string | undefined}
 */
export function createAnswers({ tools, outputSchemas, era }) {
  const list = JSON.stringify(createCatalogue({ count: tools, outputSchemas }));
  const legacyList = `"result":{"tools":${list}}}`;
  const modernList = `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":${list}}}`;
  const legacyEcho = createEcho({ modern: false, outputSchemas });
  const modernEcho = createEcho({ modern: true, outputSchemas });

  /** @param {Message} message @param {boolean} modern */
  const toBody = (message, modern) => {
    switch (message.method) {
      case 'tools/call':
        return (modern ? modernEcho : legacyEcho)(message.params?.arguments?.text ?? '');
      case 'tools/list':
        return modern ? modernList : legacyList;
      case 'initialize':
        return toHandshake(message.params?.protocolVersion);
      case 'server/discover':
        return modern ? discovery : methodNotFound;
      case 'ping':
        return '"result":{}}';
      default:
        return methodNotFound;
    }
  };

  return (message) => {
    if (message.id === undefined || message.method === undefined) return undefined;
    const modern = era === 'both' && message.params?._meta?.[versionKey] !== undefined;
    return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},${toBody(message, modern)}`;
  };
}
