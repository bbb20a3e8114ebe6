import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Channel } from '../kernel/channel.js';
import type { FixtureServer } from '../kernel/fixture-server.js';
import { fail } from '../kernel/messages.js';
import { PARSE_ERROR, RpcError } from '../kernel/rpc-error.js';
import { announceReady, type LoopbackOptions, listenOnLoopback } from './loopback.js';

/** Serves WebSocket at `/ws`, one session per socket; clients that do not offer the subprotocol `mcp` are refused. */
export async function serveWebSocket(server: FixtureServer, options: LoopbackOptions): Promise<void> {
  const { server: http, origin } = await listenOnLoopback(options.port);
  const sockets = new WebSocketServer({
    server: http,
    path: '/ws',
    handleProtocols: (offered) => (offered.has('mcp') ? 'mcp' : false),
    verifyClient: ({ req }: { req: IncomingMessage }) =>
      /(^|,)\s*mcp\s*(,|$)/.test(String(req.headers['sec-websocket-protocol'])),
  });
  sockets.on('connection', (socket, { socket: tcp }) => serveSocket(server, socket, tcp));
  announceReady(`${origin.replace('http', 'ws')}/ws`, options);
}

function serveSocket(server: FixtureServer, socket: WebSocket, tcp: Socket): void {
  const channel: Channel = {
    deliver: (text) => socket.send(text),
    // Text is sent as a frame; bytes are written to the socket unchanged.
    writeRaw: (bytes) => (typeof bytes === 'string' ? socket.send(bytes) : void tcp.write(bytes)),
    drop: () => socket.terminate(),
  };
  const session = server.open(channel);
  socket.on('message', (data) => {
    try {
      void session.receive(JSON.parse(String(data)), channel);
    } catch {
      fail(channel, null, new RpcError(PARSE_ERROR, 'not JSON'));
    }
  });
  socket.on('error', () => {});
  socket.on('close', () => server.close(session));
}
