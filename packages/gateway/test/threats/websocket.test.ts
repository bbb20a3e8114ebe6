/** WebSocket servers that break the rules of the handshake or of the frames: the daemon survives. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';

const EXTENSIONS: Readonly<Record<string, string>> = {
  'window-bits-of-99': 'permessage-deflate; server_max_window_bits=99',
  'window-bits-of-7': 'permessage-deflate; server_max_window_bits=7',
  'window-bits-of-0': 'permessage-deflate; server_max_window_bits=0',
  'window-bits-as-a-word': 'permessage-deflate; server_max_window_bits=many',
  'window-bits-without-end': `permessage-deflate; server_max_window_bits=${'9'.repeat(400)}`,
  'window-bits-of-the-client': 'permessage-deflate; client_max_window_bits=99',
  'window-bits-that-are-fine': 'permessage-deflate; server_max_window_bits=10',
  twice: 'permessage-deflate, permessage-deflate',
  unknown: 'x-something; a="',
};

const TEXT = 0x81;
const text = (payload: string): Buffer => frame(TEXT, Buffer.from(payload));
function frame(first: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([first, payload.length]), payload]);
}

/** What answers the first message after a valid handshake. */
const FRAMES: Readonly<Record<string, Buffer>> = {
  'packed-without-agreement': frame(0xc1, Buffer.from('AAAA', 'base64')),
  'reserved-bits': frame(0xb1, Buffer.from('{}')),
  'unknown-opcode': frame(0x83, Buffer.from('{}')),
  'masked-by-a-server': Buffer.from([TEXT, 0x82, 1, 2, 3, 4, 5, 6]),
  'no-utf-8': frame(TEXT, Buffer.from([0xff, 0xfe, 0xc0])),
  'going-on-with-nothing': frame(0x80, Buffer.from('{}')),
  'endless-length': Buffer.from([TEXT, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
  'more-than-the-limit': Buffer.from([TEXT, 127, 0, 0, 0, 0, 0x40, 0, 0, 0]),
  'ping-in-pieces': frame(0x09, Buffer.from('x')),
  'closing-with-a-wrong-code': frame(0x88, Buffer.from([0, 1])),
  'closing-with-half-a-code': frame(0x88, Buffer.from([3])),
  'no-messages': Buffer.concat(['null', '[]', '7', '{', '{"jsonrpc":"2.0"}'].map(text)),
};

/** Invalid handshakes. */
const HANDSHAKES: Readonly<Record<string, (accept: string) => string[]>> = {
  'wrong-key': () => ['Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=', 'Sec-WebSocket-Protocol: mcp'],
  'no-key': () => ['Sec-WebSocket-Protocol: mcp'],
  'another-protocol': (accept) => [accept, 'Sec-WebSocket-Protocol: other'],
};

const server = createServer();
server.on('upgrade', ({ url = '', headers }: IncomingMessage, socket: Duplex) => {
  socket.on('error', () => {});
  const name = url.slice(1);
  const key = createHash('sha1')
    .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  const accept = `Sec-WebSocket-Accept: ${key}`;
  const extensions = EXTENSIONS[name];
  const lines = HANDSHAKES[name]?.(accept) ?? [accept, 'Sec-WebSocket-Protocol: mcp'];
  if (extensions !== undefined) lines.push(`Sec-WebSocket-Extensions: ${extensions}`);
  socket.write(
    ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', ...lines, '', ''].join(
      '\r\n',
    ),
  );
  const frames = FRAMES[name];
  socket.once('data', () => frames !== undefined && socket.write(frames));
});

const NAMES = [EXTENSIONS, HANDSHAKES, FRAMES].flatMap((group) => Object.keys(group));
let daemon: ChildDaemon;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Servers with a valid handshake may stay silent afterwards: they get a short timeout.
  const of = (name: string) => ({
    type: 'websocket',
    url: `${origin}/${name}`,
    start: 'lazy',
    ...(name in FRAMES && { connectTimeoutMs: 500 }),
  });
  daemon = await childDaemon({
    servers: { healthy: fixture('echo'), ...Object.fromEntries(NAMES.map((name) => [name, of(name)])) },
  });
});
afterAll(async () => {
  await daemon.remove();
  server.closeAllConnections();
  server.close();
});

describe('a WebSocket server', () => {
  it('that breaks the rules fails, each by itself, and the daemon does not end', async () => {
    const answers = await Promise.all(
      NAMES.map(async (name) => ({ name, ...(await daemon.call(name, 'anything')) })),
    );
    for (const { name, ...answer } of answers)
      expect({ name, ...answer }).toMatchObject({
        name,
        success: false,
        code: expect.stringMatching(name in FRAMES ? /^CONNECT|^RESPONSE_TOO_LARGE$/ : /^CONNECT_FAILED$/),
      });
    expect(await daemon.call('healthy', 'echo', { text: 'hi' })).toMatchObject({ success: true });
    expect(daemon.child.exitCode ?? daemon.child.signalCode).toBeNull();
  });
});
