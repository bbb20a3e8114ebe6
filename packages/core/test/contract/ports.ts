import { spawn } from 'node:child_process';
import { fixture, type StartFixtureOptions, startFixture } from '@turnbuckle/testing';
import { Forwarder } from './forwarder.js';
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

/** An in-process endpoint: an object with `fetch`, here backed by a real server. */
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

/** An in-process server object that forwards its messages to a fixture, line by line. */
export const openServerObject: OpenPort = async (name, ...flags) => {
  const children = new Set<ReturnType<typeof spawn>>();
  const { command, args } = fixture(name, ...flags);
  const server = () => ({
    async connect(transport: InMemory): Promise<void> {
      const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
      children.add(child);
      child.stdin.on('error', () => {});
      // Not with readline: newer versions also break lines at U+2028, which JSON may contain.
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = (text + chunk).split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) transport.send(JSON.parse(line)).catch(() => {});
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

/** A hosted proxy that knows the server `the-id` and requires its own token. */
export const openProxy: OpenPort = async (name, ...flags) => {
  const running = await startFixture(name, { transport: 'http', flags });
  const proxy = await Forwarder.start(running.url, ({ headers, url }) => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401 };
    return url === '/v1/mcp/the-id' ? undefined : { status: 404 };
  });
  return {
    config: { type: 'proxy', baseUrl: `${proxy.origin}/v1/mcp/`, id: 'the-id', token: TOKEN },
    close: async () => {
      proxy.close();
      await running.stop();
    },
  };
};
