/** A client that sends many requests without waiting for responses takes no turn of the event loop for itself. */
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { Authenticator } from '../../src/http/authenticate.js';
import type { Route } from '../../src/http/route.js';
import { HttpServer } from '../../src/http/server/http-server.js';

let server: HttpServer | undefined;
afterEach(() => server?.close(0));

/** In each turn of the event loop, how many requests were handled; and the paths in their order. */
interface Handled {
  readonly perTurn: number[];
  readonly bodies: unknown[];
}

async function open(): Promise<{ port: number; handled: Handled }> {
  const handled: Handled = { perTurn: [], bodies: [] };
  let inTurn = 0;
  const note = (): void => {
    if (inTurn === 0)
      setImmediate(() => {
        handled.perTurn.push(inTurn);
        inTurn = 0;
      });
    inTurn += 1;
  };
  const identity = { caller: { id: 'agent', capabilities: [] }, access: new Set(['call'] as const) };
  const route = (method: Route['method'], handle: Route['handle']): Route => ({
    ...{ method, path: '/one', access: 'call', summary: 'One', handle },
  });
  server = new HttpServer({
    routes: [
      route('GET', () => {
        note();
        return {};
      }),
      route('POST', async (context) => {
        note();
        let body = '';
        for await (const part of context.request) body += String(part);
        handled.bodies.push(JSON.parse(body));
        return {};
      }),
    ],
    authenticator: new Authenticator({
      credentials: { find: (token) => (token === 'good' ? identity : undefined) },
    }),
    onDefect: () => {},
  });
  const { port } = await server.listen(0, '127.0.0.1');
  return { port, handled };
}

const head = (method: string, ...lines: string[]): string =>
  [`${method} /one HTTP/1.1`, 'host: localhost', 'authorization: Bearer good', ...lines, '', ''].join('\r\n');

/** Everything that is received until the connection ends, or until there are this many responses. */
function exchange(port: number, sent: string, count: number): Promise<number> {
  return new Promise((resolve) => {
    let text = '';
    const received = (): number => text.match(/HTTP\/1\.1 200/g)?.length ?? 0;
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
      if (received() >= count) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received()));
  });
}

// requirement D1
it('handles a few requests of a connection in each turn, and ends the connection of one that sends on', async () => {
  const { port, handled } = await open();
  const received = await exchange(port, head('GET').repeat(5_000), 5_000);
  expect(Math.max(...handled.perTurn)).toBeLessThanOrEqual(8);
  expect(received).toBeGreaterThanOrEqual(10);
  expect(received).toBeLessThan(200);
});

it('answers all of a few requests that are sent at once, in their order', async () => {
  const { port, handled } = await open();
  const posts = Array.from({ length: 40 }, (_, index) => {
    const body = JSON.stringify({ index, pad: 'x'.repeat(5_000) });
    return `${head('POST', 'content-type: application/json', `content-length: ${body.length}`)}${body}`;
  });
  expect(await exchange(port, posts.join(''), 40)).toBe(40);
  expect(handled.bodies).toMatchObject(posts.map((_, index) => ({ index })));
});

it('answers many requests that each wait for the response before', async () => {
  const { port, handled } = await open();
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head('GET')));
    let left = 300;
    socket.setEncoding('latin1').on('data', () => {
      left -= 1;
      if (left > 0) return void socket.write(head('GET'));
      socket.destroy();
      resolve();
    });
  });
  expect(handled.perTurn).toHaveLength(300);
});
