import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { fixture, type StartFixtureOptions, startFixture } from '@turnbuckle/testing';
import type { OpenPort } from './setting.js';

export const openStdio: OpenPort = async (name, ...flags) => ({
  config: fixture(name, ...flags),
  close: async () => {},
});

export function openNetwork(transport: StartFixtureOptions['transport'], ...always: string[]): OpenPort {
  return async (name, ...flags) => {
    const running = await startFixture(name, { transport, flags: [...always, ...flags] });
    return { config: { type: transport, url: running.url }, close: () => running.stop() };
  };
}

/** An endpoint as a host has it in its own process: an object with `fetch`, here with a real server behind it. */
export const openFetch: OpenPort = async (name, ...flags) => {
  const running = await startFixture(name, { transport: 'http', flags });
  const server = {
    fetch: async (request: Request): Promise<Response> => {
      const { method, headers, signal } = request;
      const body = method === 'POST' ? await request.text() : null;
      return fetch(running.url, { method, headers, body, signal });
    },
  };
  return { config: { type: 'in-process', server }, close: () => running.stop() };
};

interface InMemory {
  onmessage?: (message: unknown) => void;
  onclose?: () => void;
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
}

/** A server object in this process: what it is connected to is carried on to a fixture, line by line. */
export const openServerObject: OpenPort = async (name, ...flags) => {
  const children = new Set<ReturnType<typeof spawn>>();
  const { command, args } = fixture(name, ...flags);
  const server = () => ({
    async connect(transport: InMemory): Promise<void> {
      const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
      children.add(child);
      child.stdin.on('error', () => {});
      createInterface({ input: child.stdout }).on('line', (line) => {
        transport.send(JSON.parse(line)).catch(() => {});
      });
      transport.onmessage = (message) => void child.stdin.write(`${JSON.stringify(message)}\n`);
      transport.onclose = () => void child.stdin.end();
      child.stdout.on('close', () => void transport.close());
      await transport.start();
    },
  });
  return {
    config: { type: 'in-process', server },
    close: async () => {
      for (const child of children) child.kill();
    },
  };
};

const TOKEN = 'proxy-token';

/** A hosted proxy that knows the server `the-id` and wants its own token. */
export const openProxy: OpenPort = async (name, ...flags) => {
  const running = await startFixture(name, { transport: 'http', flags });
  const proxy = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end();
    if (request.url !== '/v1/mcp/the-id') return void response.writeHead(404).end();
    const abort = new AbortController();
    response.on('close', () => abort.abort());
    try {
      const {
        host: _,
        connection: __,
        'content-length': ___,
        authorization: ____,
        ...headers
      } = request.headers;
      const answer = await fetch(running.url, {
        method: request.method ?? 'POST',
        headers: headers as Record<string, string>,
        body: request.method === 'POST' ? await readAll(request) : null,
        signal: abort.signal,
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.flushHeaders();
      if (answer.body === null) return void response.end();
      const body = Readable.fromWeb(answer.body as ReadableStream);
      body.on('error', () => response.destroy());
      body.pipe(response);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    config: { type: 'proxy', baseUrl: `http://127.0.0.1:${port}/v1/mcp/`, id: 'the-id', token: TOKEN },
    close: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await running.stop();
    },
  };
};

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
