/** A server of the newer revision whose streams of changes a test counts; over HTTP, or in this process. */
import type { ServerResponse } from 'node:http';
import type { ServerInput } from 'turnbuckle';
import { ownHttpServer, sendJson } from './own-http-server.js';

interface Message {
  readonly id?: number | string | undefined;
  readonly method: string;
  readonly params?: {
    readonly requestId?: number | string;
    readonly notifications?: { readonly resourceSubscriptions?: readonly string[] };
  };
}

interface Wire {
  onmessage?: (message: Message) => void;
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
}

type Send = (message: object) => void;

const TYPED = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'streams', version: '1' } };
const RESULTS: Readonly<Record<string, object>> = {
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {}, resources: { subscribe: true } },
    _meta: SERVER_INFO,
  },
  'tools/list': { tools: [{ name: 'good', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [] },
};

export class StreamServer {
  /** The open streams, each with its resources. */
  readonly streams = new Map<unknown, readonly string[]>();
  /** The most streams that were open at the same time. */
  most = 0;
  /** How many were opened in all. */
  opened = 0;
  /** Called before a stream is acknowledged. */
  beforeAck: () => Promise<void> = async () => {};
  /** If true, it rejects new streams. */
  refuses = false;

  async config(way: 'http' | 'in-process'): Promise<ServerInput> {
    if (way === 'in-process') return { type: 'in-process', server: this, era: 'modern' };
    const url = await ownHttpServer((asked, response) => this.#onPost(asked as Message, response));
    return { url, era: 'modern' };
  }

  get resources(): string[] {
    return [...this.streams.values()].flat().sort();
  }

  async connect(given: never): Promise<void> {
    const wire = given as Wire;
    const send: Send = (message) => void wire.send({ jsonrpc: '2.0', ...message }).catch(() => {});
    wire.onmessage = (message) => {
      const { id, method, params } = message;
      if (method === 'notifications/cancelled') this.streams.delete(params?.requestId);
      else if (method === 'subscriptions/listen') void this.#listen(message, { key: id, send });
      else if (id !== undefined) send(answerOf(message));
    };
    await wire.start();
  }

  #onPost(message: Message, response: ServerResponse): void {
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method !== 'subscriptions/listen' || this.refuses)
      return sendJson(
        response,
        message.method === 'subscriptions/listen' ? refusal(message) : answerOf(message),
      );
    response.on('close', () => this.streams.delete(response));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const send: Send = (said) =>
      void response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...said })}\n\n`);
    void this.#listen(message, { key: response, send });
  }

  async #listen({ id, params }: Message, { key, send }: { key: unknown; send: Send }): Promise<void> {
    if (this.refuses) return send(refusal({ id }));
    this.opened += 1;
    this.streams.set(key, params?.notifications?.resourceSubscriptions ?? []);
    this.most = Math.max(this.most, this.streams.size);
    await this.beforeAck();
    send({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        _meta: { 'io.modelcontextprotocol/subscriptionId': id },
        notifications: params?.notifications,
      },
    });
  }
}

const refusal = ({ id }: Pick<Message, 'id'>): object => ({
  id,
  error: { code: -32603, message: 'not now' },
});

function answerOf({ id, method }: Message): object {
  const result = RESULTS[method];
  return result === undefined
    ? { id, error: { code: -32601, message: 'no' } }
    : { id, result: { ...TYPED, ...result } };
}
