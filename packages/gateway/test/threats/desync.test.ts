/** Servers whose responses are out of step, and connections that are reused for the next request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';
import { openUpstream, type Upstream } from './upstream.js';

interface Asked {
  readonly id: number | undefined;
  readonly method: string;
  readonly params: { readonly arguments?: { readonly text?: string } };
}

const TOOL = { name: 'say', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };
const FIRST: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'odd', version: '1' },
  },
  'tools/list': { tools: [TOOL] },
};

const resultText = (id: number | undefined, result: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });
const said = (text: string): object => ({ content: [{ type: 'text', text }] });

/** An extra response, as if to the next request. */
function poison(socket: Socket | null, { id = 0 }: Asked): void {
  const body = resultText(id + 1, said('POISONED'));
  socket?.write(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

/** What each kind of server does with a call of its tool. */
const KINDS: Readonly<Record<string, (response: ServerResponse, asked: Asked) => void>> = {
  /** Correct, plus a response to a request that was never sent. */
  twice: (response, asked) => {
    response.end(resultText(asked.id, said(asked.params.arguments?.text ?? '')));
    poison(response.socket, asked);
  },
  /** The same, while the connection is idle. */
  later: (response, asked) => {
    const { socket } = response;
    idle = () => poison(socket, asked);
    socket?.once('close', () => {
      closed += 1;
    });
    response.end(resultText(asked.id, said(asked.params.arguments?.text ?? '')));
  },
  /** Every request gets the response to the one before. */
  shifted: (response, asked) => {
    response.end(resultText(last.id, said(last.params.arguments?.text ?? '')));
    last = asked;
  },
};
let last: Asked = { id: -1, method: '', params: {} };
let idle = (): void => {};
let closed = 0;

const odd = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  let body = '';
  for await (const part of request) body += String(part);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const asked: Asked = JSON.parse(body);
  if (asked.id === undefined) return void response.writeHead(202).end();
  const first = FIRST[asked.method];
  const kind = KINDS[request.url?.slice(1) ?? ''];
  response.setHeader('content-type', 'application/json');
  if (asked.method === 'tools/call') return kind?.(response, asked);
  response.end(
    first === undefined
      ? JSON.stringify({ jsonrpc: '2.0', id: asked.id, error: { code: -32601, message: 'no' } })
      : resultText(asked.id, first),
  );
});
odd.on('connection', (socket) => void socket.on('error', () => {}));

let daemon: ChildDaemon;
let shared: Upstream;
beforeAll(async () => {
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
  shared = await openUpstream({ tools: [TOOL] });
  const of = (who: string) => ({ url: shared.url, headers: { authorization: `Bearer ${who}` } });
  daemon = await childDaemon({
    servers: {
      ...Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, { url: `${origin}/${kind}` }])),
      ada: of('ada'),
      bob: of('bob'),
    },
  });
});
afterAll(async () => {
  await daemon.remove();
  await shared.close();
  odd.closeAllConnections();
  await new Promise((resolve) => odd.close(resolve));
});

async function say(server: string, text: string): Promise<string> {
  const { body } = await daemon.post('/mcp/call', { server, tool_name: 'say', arguments: { text } });
  const { content } = (body.result ?? { content: [] }) as { content: Array<{ text: string }> };
  return content[0]?.text ?? String(body.code);
}

describe('an extra response', () => {
  it('in the same breath is never the answer to the next request', async () => {
    for (let turn = 0; turn < 5; turn += 1) expect(await say('twice', `turn ${turn}`)).toBe(`turn ${turn}`);
    const texts = Array.from({ length: 20 }, (_, number) => `at once ${number}`);
    expect(await Promise.all(texts.map((text) => say('twice', text)))).toEqual(texts);
  });

  it('on an idle connection closes that connection', async () => {
    for (let turn = 1; turn <= 3; turn += 1) {
      expect(await say('later', `turn ${turn}`)).toBe(`turn ${turn}`);
      idle();
      await waitUntil(() => closed === turn);
    }
  });
});

it('a response to another request is an error, not the result of the next request', async () => {
  for (let turn = 0; turn < 3; turn += 1)
    expect(await say('shifted', `of ada ${turn}`)).toBe('PROTOCOL_VIOLATION');
  const texts = Array.from({ length: 20 }, (_, number) => `of ${number}`);
  for (const answer of await Promise.all(texts.map((text) => say('shifted', text))))
    expect(answer).not.toMatch(/^of /);
});

it('a connection is used with one credential only, even if the URL is the same', async () => {
  const inline = (who: string) =>
    daemon.post('/mcp/call', {
      endpoint: { url: shared.url, headers: { authorization: `Bearer ${who}` } },
      tool_name: 'say',
      arguments: {},
    });
  for (let round = 0; round < 3; round += 1)
    await Promise.all([
      ...['ada', 'bob', 'ada', 'bob'].map((who) => say(who, who)),
      ...['cyd', 'dan', 'cyd', 'dan'].map(inline),
    ]);
  const users = new Map<number | undefined, Set<string | undefined>>();
  for (const { port, headers } of shared.noted)
    users.set(port, (users.get(port) ?? new Set()).add(headers.authorization));
  const all = new Set([...users.values()].flatMap((one) => [...one]));
  expect([...all].sort()).toEqual(['ada', 'bob', 'cyd', 'dan'].map((who) => `Bearer ${who}`));
  expect([...users.values()].filter(({ size }) => size > 1)).toEqual([]);
  // Connections are reused: otherwise the checks above prove nothing.
  expect(users.size).toBeLessThan(shared.noted.length);
});
