/** A connection that switches to another protocol while a response is pending on it: the two are never mixed. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

let own: OwnDaemon;
beforeAll(async () => {
  own = await ownDaemon({
    servers: { echo: fixture('echo') },
    rules: [{ action: 'allow' }],
  });
  await own.daemon.configured.runtime.connectAll();
});
afterAll(() => own.close());

interface Raw {
  readonly socket: Socket;
  text(): string;
}

function open(): Raw {
  const socket = connect(Number(new URL(own.daemon.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => {});
  return { socket, text: () => text };
}

const head = (line: string, ...more: string[]): string =>
  [
    line,
    `host: ${new URL(own.daemon.url).host}`,
    `authorization: Bearer ${own.daemon.token}`,
    ...more,
    '',
    '',
  ].join('\r\n');

const post = (path: string, body: object): string => {
  const text = JSON.stringify(body);
  return `${head(`POST ${path} HTTP/1.1`, 'content-type: application/json', `content-length: ${text.length}`)}${text}`;
};
const call = (ms: number): string =>
  post('/mcp/call', { server: 'echo', tool_name: 'sleep', arguments: { ms } });
const CONNECT = (): string => head('CONNECT mcp-stdio:0 HTTP/1.1');
const UPGRADE = (): string => head('GET /tools HTTP/1.1', 'connection: Upgrade', 'upgrade: websocket');
const LINE = `${JSON.stringify({ jsonrpc: '2.0', id: 77, method: 'ping' })}\n`;
const inFlight = (): number => own.daemon.configured.runtime.serverStatus('echo').inFlight;

describe('a CONNECT', () => {
  it.each([
    ['in one piece with a call', (): readonly string[] => [call(60_000) + CONNECT() + LINE]],
    ['in separate pieces', (): readonly string[] => [call(60_000), CONNECT(), LINE]],
    ['after two calls', (): readonly string[] => [call(60_000) + call(60_000), CONNECT() + LINE]],
  ])('%s ends the connection, and with it the calls', async (_, pieces) => {
    const { socket, text } = open();
    const [first = '', ...rest] = pieces();
    socket.write(first);
    if (rest.length > 0) await waitUntil(() => inFlight() > 0);
    for (const piece of rest) socket.write(piece);
    if (!socket.closed) await once(socket, 'close');
    expect(text()).toBe('');
    await waitUntil(() => inFlight() === 0);
  });

  it('behind an answer that ends the connection is not taken', async () => {
    const { socket, text } = open();
    const health = `GET /health HTTP/1.1\r\nhost: ${new URL(own.daemon.url).host}\r\n\r\n`;
    socket.write(health + CONNECT() + LINE);
    if (!socket.closed) await once(socket, 'close');
    expect(text()).not.toContain('"id":77');
    expect(text()).not.toMatch(/HTTP.*HTTP/s);
  });

  it('after a response that was read is accepted', async () => {
    const { socket, text } = open();
    socket.write(post('/mcp/call', { server: 'echo', tool_name: 'echo', arguments: { text: 'first' } }));
    await waitUntil(() => text().includes('first'));
    socket.write(CONNECT() + LINE);
    await waitUntil(() => text().includes('"id":77'));
    expect(text()).toMatch(/first.*HTTP\/1\.1 200 OK.*"id":77/s);
  });
});

describe('an Upgrade', () => {
  it('after a call is answered in order like any other request, and ends the connection', async () => {
    const { socket, text } = open();
    socket.write(call(100) + UPGRADE() + call(50) + CONNECT() + LINE);
    if (!socket.closed) await once(socket, 'close');
    const [, first = '', second = '', ...others] = text().split('HTTP/1.1');
    expect(first).toContain('slept 100 ms');
    expect(second).toContain('"tools"');
    expect(second).toMatch(/connection: close/i);
    expect(others).toEqual([]);
  });

  it('with a body is read as a request with a body, however it is split', async () => {
    const body = JSON.stringify({ server: 'echo', tool_name: 'echo', arguments: { text: 'upgraded' } });
    const whole = `${head(
      'POST /mcp/call HTTP/1.1',
      'connection: Upgrade, HTTP2-Settings',
      'upgrade: h2c',
      'content-type: application/json',
      `content-length: ${body.length}`,
    )}${body}`;
    for (const cut of [whole.length, whole.length - body.length, whole.length - 5]) {
      const { socket, text } = open();
      socket.setNoDelay().write(whole.slice(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(whole.slice(cut) + call(50));
      if (!socket.closed) await once(socket, 'close');
      expect(text().split('HTTP/1.1')).toHaveLength(2);
      expect(text()).toContain('upgraded');
    }
  });
});
