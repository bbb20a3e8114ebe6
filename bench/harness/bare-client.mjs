import { Agent, request } from 'node:http';
import { EventStream } from './event-stream.mjs';

/**
 * The response of a request; some gateways send it as an event.
 * @param {{ headers: import('node:http').IncomingHttpHeaders, text: string }} response
 */
function readResponse({ headers, text }) {
  if (headers['content-type']?.startsWith('text/event-stream') !== true) return JSON.parse(text);
  let last = {};
  const stream = new EventStream(({ data }) => {
    const message = JSON.parse(data);
    if (message.method === undefined) last = message;
  });
  stream.push(`${text}\n\n`);
  return last;
}

/** A minimal legacy MCP client over kept connections. */
export class BareClient {
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #url;
  #headers;
  #id = 0;

  /** @param {{ url: string, token?: string }} endpoint */
  constructor({ url, token }) {
    this.#url = new URL(url);
    this.#headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
  }

  async initialize() {
    const clientInfo = { name: 'bare', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const response = await this.#post('initialize', params);
    const session = response.headers['mcp-session-id'];
    if (typeof session === 'string') this.#headers['mcp-session-id'] = session;
    const { result, error } = readResponse(response);
    if (result === undefined) throw new Error(`initialize: ${response.status} ${JSON.stringify(error)}`);
    return this;
  }

  /** @param {string} method @param {object} params */
  async request(method, params) {
    const response = await this.#post(method, params);
    const { result, error } = readResponse(response);
    if (response.status !== 200 || result === undefined)
      throw new Error(`${method}: ${response.status} ${JSON.stringify(error)}`);
    return result;
  }

  close() {
    this.#agent.destroy();
  }

  /** @returns {Promise<{ status: number, headers: import('node:http').IncomingHttpHeaders, text: string }>} */
  #post(method, params) {
    this.#id += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params });
    return new Promise((resolve, reject) => {
      const sent = request(
        this.#url,
        {
          method: 'POST',
          agent: this.#agent,
          headers: { ...this.#headers, 'content-length': Buffer.byteLength(body) },
        },
        (response) => {
          const parts = [];
          response.on('data', (part) => parts.push(part));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(parts).toString('utf8'),
            }),
          );
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
