/** What a server changes while nothing listens to it is noticed as soon as something listens again. */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { openRuntime, QUICK } from './open-runtime.js';
import { type Answer, ownHttpServer, sendJson } from './own-http-server.js';

type Era = 'legacy' | 'modern';

const URI = 'own://note';
const EVENT_STREAM = { 'content-type': 'text/event-stream' };
const QUIET_MS = 600;

/** A server over HTTP whose tools the test changes; it never reports a change. */
class SilentServer {
  tools = ['first'];
  lists = 0;
  readonly #streams = new Set<ServerResponse>();
  /** Called before a stream of changes is opened. */
  beforeStream: () => Promise<void> = async () => {};

  open = (era: Era): Promise<string> =>
    ownHttpServer(era === 'modern' ? this.#answerAsNewer : this.#answerAsOlder, (response) => {
      if (era === 'modern') response.writeHead(405).end();
      else void this.#openStream(response);
    });

  get isListenedTo(): boolean {
    return this.#streams.size > 0;
  }

  endStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  async #openStream(response: ServerResponse, first?: object): Promise<void> {
    await this.beforeStream();
    response.writeHead(200, EVENT_STREAM).flushHeaders();
    if (first !== undefined)
      response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...first })}\n\n`);
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
  }

  #results(): Readonly<Record<string, object>> {
    return {
      'tools/list': { tools: this.tools.map((name) => ({ name, inputSchema: { type: 'object' } })) },
      'resources/list': { resources: [{ name: 'note', uri: URI }] },
      'resources/templates/list': { resourceTemplates: [] },
      'resources/subscribe': {},
      'resources/unsubscribe': {},
    };
  }

  readonly #answerAsOlder: Answer = ({ id, method }, response) => {
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/list') this.lists += 1;
    const initialized = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      serverInfo: { name: 'silent', version: '1.0.0' },
    };
    const result = method === 'initialize' ? initialized : this.#results()[method];
    sendJson(response, { id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) });
  };

  readonly #answerAsNewer: Answer = ({ id, method, params }, response) => {
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/list') this.lists += 1;
    if (method === 'subscriptions/listen')
      return void this.#openStream(response, {
        method: 'notifications/subscriptions/acknowledged',
        params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
      });
    const discovered = {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'silent', version: '1' } },
    };
    const result = method === 'server/discover' ? discovered : this.#results()[method];
    const whole = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result };
    sendJson(response, { id, ...(result ? { result: whole } : { error: { code: -32601, message: 'no' } }) });
  };
}

async function connect(server: SilentServer, era: Era): Promise<Runtime> {
  const runtime = await openRuntime({
    servers: { far: { type: 'http', url: await server.open(era), era, pingMs: 0, reconnect: QUICK } },
    random: () => 0,
  });
  await runtime.connectAll();
  return runtime;
}

const toolNames = (runtime: Runtime): string[] => runtime.tools().map(({ tool }) => tool);

// requirement T7
describe.each<Era>(['legacy', 'modern'])('a %s server over HTTP', (era) => {
  it('changed its tools after they were listed, and before it could report changes', async () => {
    const server = new SilentServer();
    let openStream = (): void => {};
    const held = new Promise<void>((resolve) => {
      openStream = resolve;
    });
    server.beforeStream = () => held;
    const runtime = await connect(server, era);
    expect(toolNames(runtime)).toEqual(['first']);
    server.tools = ['first', 'second'];
    openStream();
    await expect.poll(() => toolNames(runtime)).toEqual(['first', 'second']);
  });

  it('is listed once more when it starts to report changes, and not again', async () => {
    const server = new SilentServer();
    const runtime = await connect(server, era);
    await expect.poll(() => server.isListenedTo).toBe(true);
    await delay(QUIET_MS);
    expect(server.lists).toBe(2);
    expect(toolNames(runtime)).toEqual(['first']);
  });

  it('changed tools and a watched resource while its stream was interrupted', async () => {
    const server = new SilentServer();
    const runtime = await connect(server, era);
    await expect.poll(() => server.isListenedTo).toBe(true);
    const updated: string[] = [];
    await runtime.subscribeResource('far', URI, (uri) => updated.push(uri));
    await delay(QUIET_MS);
    expect(updated).toEqual([]);
    server.tools = ['second'];
    server.endStreams();
    await expect.poll(() => updated, { timeout: 5_000 }).toEqual([URI]);
    await expect.poll(() => toolNames(runtime), { timeout: 5_000 }).toEqual(['second']);
  });

  it('changed a watched resource while it was disconnected', async () => {
    const server = new SilentServer();
    const runtime = await connect(server, era);
    const updated: string[] = [];
    await runtime.subscribeResource('far', URI, (uri) => updated.push(uri));
    await runtime.disconnect('far');
    await runtime.connect('far');
    await expect.poll(() => updated, { timeout: 5_000 }).toEqual([URI]);
  });
});
