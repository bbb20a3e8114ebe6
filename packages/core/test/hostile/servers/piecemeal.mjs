// A server over HTTP and WebSocket whose tool `crumbs` answers with a text of `bytes` bytes, in pieces of one byte each:
// chunks of a JSON body (`json`) or of an event stream (`event`), or fragments of one message (over WebSocket, for any
// kind). Prints READY and its address; ends with stdin.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const schema = {
  type: 'object',
  properties: { kind: { enum: ['json', 'event', 'lines'] }, bytes: { type: 'integer' } },
  required: ['kind', 'bytes'],
};
const PIECES = 64 * 1024;

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'piecemeal', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [
      { name: 'crumbs', inputSchema: schema },
      { name: 'good', inputSchema: { type: 'object' } },
    ],
  }),
};

const textAnswer = (id, text) =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });

function answerTo({ id, method, params }) {
  if (method === 'tools/call') return textAnswer(id, 'good');
  const answer = ANSWERS[method];
  const outcome = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: 'no' } };
  return JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
}

async function write(socket, bytes) {
  if (socket.destroyed || socket.write(bytes)) return;
  await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
}

/** Sends each byte of the body separately, framed by `frame`. */
async function crumble(socket, body, frame) {
  for (let start = 0; start < body.length && !socket.destroyed; start += PIECES) {
    const pieces = [];
    for (const byte of body.subarray(start, start + PIECES))
      pieces.push(...frame(byte, start + pieces.length));
    await write(socket, Buffer.from(pieces));
  }
}

async function crumbs(socket, id, { kind, bytes }) {
  const whole = textAnswer(id, 'x'.repeat(bytes));
  // The data lines of an event are joined by line breaks, which JSON allows between tokens.
  const event = kind === 'lines' ? `data: ${whole}\n${'data:\n'.repeat(bytes / 6)}\n` : `data: ${whole}\n\n`;
  const type = kind === 'json' ? 'application/json' : 'text/event-stream';
  // Written directly to the socket, so the response object never ends and the connection cannot be reused.
  const head = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: ${type}`;
  socket.write(`${head}\r\ntransfer-encoding: chunked\r\n\r\n`);
  const body = Buffer.from(kind === 'json' ? whole : event);
  await crumble(socket, body, (byte) => [0x31, 13, 10, byte, 13, 10]);
  if (!socket.destroyed) socket.end('0\r\n\r\n');
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  if (request.method !== 'POST') return response.writeHead(405).end();
  const message = JSON.parse(body);
  if (message.id === undefined) return response.writeHead(202).end();
  const { params } = message;
  if (message.method === 'tools/call' && params.name === 'crumbs')
    return crumbs(request.socket, message.id, params.arguments);
  response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(message));
});

const frameOf = (opcode, payload) => {
  const head =
    payload.length < 126
      ? Buffer.from([0x80 | opcode, payload.length])
      : Buffer.from([0x80 | opcode, 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([head, payload]);
};

/** Reads the text of small masked client frames. */
function readFrames(bytes, onText) {
  let rest = bytes;
  while (rest.length >= 6) {
    const short = rest[1] & 127;
    const head = short === 126 ? 4 : 2;
    const length = short === 126 ? rest.readUInt16BE(2) : short;
    if (rest.length < head + 4 + length) break;
    const mask = rest.subarray(head, head + 4);
    const payload = rest.subarray(head + 4, head + 4 + length).map((byte, index) => byte ^ mask[index % 4]);
    if ((rest[0] & 15) === 1) onText(Buffer.from(payload).toString());
    rest = rest.subarray(head + 4 + length);
  }
  return rest;
}

server.on('upgrade', (request, socket) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: mcp\r\n\r\n`,
  );
  let rest = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (part) => {
    rest = readFrames(Buffer.concat([rest, part]), (text) => {
      const message = JSON.parse(text);
      if (message.id === undefined) return;
      const { method, params } = message;
      if (method !== 'tools/call' || params.name !== 'crumbs')
        return socket.write(frameOf(1, Buffer.from(answerTo(message))));
      const body = Buffer.from(textAnswer(message.id, 'x'.repeat(params.arguments.bytes)));
      void crumble(socket, body, (byte, index) => [index === 0 ? 1 : 0, 1, byte]).then(() =>
        socket.write(Buffer.from([0x80, 0])),
      );
    });
  });
});
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`READY http://127.0.0.1:${server.address().port}/mcp\n`),
);
process.stdin.on('end', () => process.exit(0)).resume();
