import { Agent, get, request } from 'node:http';
import { EventStream } from './event-stream.mjs';

/** A minimal legacy MCP client over HTTP+SSE: every request is a POST, and its response an event of one GET. */
export class BareSseClient {
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #url;
  #pending = new Map();
  #id = 0;
  /** @type {import('node:http').ClientRequest | undefined} */
  #events;
  /** @type {URL | undefined} */
  #endpoint;

  /** @param {{ url: string }} endpoint */
  constructor({ url }) {
    this.#url = new URL(url);
  }

  async initialize() {
    this.#endpoint = await this.#open();
    const clientInfo = { name: 'bare', version: '1' };
    await this.request('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo });
    await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return this;
  }

  /** @param {string} method @param {object} params */
  request(method, params) {
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#post({ jsonrpc: '2.0', id, method, params }).catch(reject);
    });
  }

  close() {
    this.#events?.destroy();
    this.#agent.destroy();
  }

  /** Resolves with the address for requests, which is the first event. @returns {Promise<URL>} */
  #open() {
    return new Promise((resolve, reject) => {
      const stream = new EventStream(({ type, data }) => {
        if (type === 'endpoint') resolve(new URL(data, this.#url));
        else this.#settle(JSON.parse(data));
      });
      const fail = (error) => {
        reject(error);
        for (const waiting of this.#pending.values()) waiting.reject(error);
        this.#pending.clear();
      };
      this.#events = get(this.#url, { headers: { accept: 'text/event-stream' } }, (response) => {
        if (response.statusCode !== 200) fail(new Error(`the event stream: ${response.statusCode}`));
        response.setEncoding('utf8').on('data', (chunk) => stream.push(chunk));
        response.on('error', fail);
        response.on('close', () => fail(new Error('the event stream ended')));
      });
      this.#events.on('error', fail);
    });
  }

  #settle({ id, result, error }) {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (result === undefined) waiting?.reject(new Error(JSON.stringify(error)));
    else waiting?.resolve(result);
  }

  /** @param {object} message @returns {Promise<void>} */
  #post(message) {
    const body = JSON.stringify(message);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const sent = request(
        this.#endpoint ?? this.#url,
        { method: 'POST', agent: this.#agent, headers },
        (response) => {
          const { statusCode = 0 } = response;
          response.on('error', reject);
          response.on('end', () => (statusCode < 300 ? resolve() : reject(new Error(`POST: ${statusCode}`))));
          response.resume();
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
