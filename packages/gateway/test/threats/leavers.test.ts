/** Clients that disconnect at any moment, above all while their token is verified: nothing of theirs remains. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Authenticator } from '../../src/http/authenticate.js';
import { HttpServer } from '../../src/http/server/http-server.js';
import type { Identity } from '../../src/identity/identity.js';
import { createMcpRoutes } from '../../src/mcp/mcp-routes.js';
import { createStdioTunnel } from '../../src/mcp/stdio/stdio-tunnel.js';
import { EVERYTHING, openStand, type Stand } from '../mcp/stand.js';

let stand: Stand;
beforeAll(async () => {
  stand = await openStand({ servers: { echo: fixture('echo') } });
});
afterAll(() => stand.close());

/** Numbers from 0 to 1 that are the same each time. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const rpc = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const LISTEN = rpc('subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: META });
const LIST = rpc('tools/list', { _meta: META });
const TYPES = 'content-type: application/json\r\naccept: application/json, text/event-stream\r\n';

const post = (head: string, method: string, body: string, length = body.length): string =>
  `POST /mcp HTTP/1.1\r\n${head}${TYPES}mcp-protocol-version: 2026-07-28\r\nmcp-method: ${method}\r\ncontent-length: ${length}\r\n\r\n${body}`;

/** All kinds of requests, by what follows the first line. */
const KINDS: Readonly<Record<string, (head: string) => string>> = {
  'a list': (head) => post(head, 'tools/list', LIST),
  'a stream': (head) => post(head, 'subscriptions/listen', LISTEN),
  'half a body': (head) => post(head, 'tools/list', LIST, LIST.length + 100),
  'a stream without a session': (head) => `GET /mcp HTTP/1.1\r\n${head}accept: text/event-stream\r\n\r\n`,
  'an unknown path': (head) => `GET /none HTTP/1.1\r\n${head}\r\n`,
  'two at once': (head) => post(head, 'subscriptions/listen', LISTEN) + post(head, 'tools/list', LIST),
  'a tunnel': (head) => `CONNECT mcp-stdio:0 HTTP/1.1\r\n${head}\r\n`,
  'a tunnel and a stream': (head) => `CONNECT mcp-stdio:0 HTTP/1.1\r\n${head}\r\n${LISTEN}\n`,
  'a tunnel and half a line': (head) => `CONNECT mcp-stdio:0 HTTP/1.1\r\n${head}\r\n${'x'.repeat(70_000)}`,
};

/** A token names its owner and how long each verification takes; some are known immediately. */
async function open(): Promise<{ http: HttpServer; port: number }> {
  const msOf = (token: string): number => Number(token.split('.')[1]);
  const identityOf = (token: string): Identity => {
    const [id = ''] = token.split('.');
    return { caller: { ...EVERYTHING, id }, access: new Set(['call']) };
  };
  const verify = (token: string): Promise<Identity> => delay(msOf(token), identityOf(token));
  const find = (token: string) => (msOf(token) < 10 ? identityOf(token) : undefined);
  const http = new HttpServer({
    routes: createMcpRoutes(stand.endpoint),
    tunnel: createStdioTunnel(stand.endpoint, () => undefined),
    authenticator: new Authenticator({ credentials: { find, verify, isPlausible: () => true } }),
    limits: { maxConnections: 40, maxInFlight: 40, maxHeldBytes: 1_024 * 1_024 },
    onDefect: (thrown) => {
      throw thrown;
    },
  });
  const { port } = await http.listen(0, '127.0.0.1');
  onTestFinished(() => http.close(0));
  return { http, port };
}

/** Sends the text and disconnects after a while, whatever was received by then. */
async function visit(port: number, text: string, stayMs: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.resume().write(text);
  await delay(stayMs);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  if (socket.closed) return;
  socket.resetAndDestroy();
  await closed;
}

async function statusOf(port: number, who: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${who}.0.last`, connection: 'close' },
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    },
    body: LIST,
  });
  await answer.text();
  return answer.status;
}

describe('clients that leave while they are looked at', () => {
  const kinds = Object.entries(KINDS);
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<(head: string) => string>]> = [
    ...kinds.map(([name, text]) => [name, [text]] as const),
    ['all of them', kinds.map(([, text]) => text)],
  ];

  it.each(cases)(
    '%s: nothing remains, and others are served',
    async (_name, texts) => {
      const { http, port } = await open();
      const random = numbersFrom(7);
      for (let round = 0; round < 8; round += 1) {
        const crowd = Array.from({ length: 24 }, (_, number) => {
          const token = `${['ada', 'bob', 'eve'][number % 3]}.${Math.floor(random() * 30)}.${round}-${number}`;
          const head = `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`;
          const text = texts[Math.floor(random() * texts.length)]?.(head) ?? '';
          return visit(port, text, random() * 45);
        });
        await Promise.all(crowd);
      }
      const isEmpty = () => http.inFlight + http.connections.known + http.connections.open === 0;
      // Some tokens are still being verified.
      await delay(200);
      await waitUntil(isEmpty);
      for (const who of ['ada', 'bob', 'eve', 'new']) expect(await statusOf(port, who)).toBe(200);
      await waitUntil(isEmpty);
    },
    60_000,
  );
});
