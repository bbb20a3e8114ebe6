// A server over stdio, websocket, http or sse (older HTTP) that sends what it is told to. The tool `say` sends each of
// `lines` verbatim, with "$ID" replaced by the id of the call, then, unless `silent`, the result "said".
// `--tools <file>`: the tools of tools/list, verbatim. `--hello <file>`: the result of the handshake of
// either era. `--stream`: over http, each response is an event. `--before <count>`: that many copies of
// `--text <text>` are sent before the handshake result, with `--batch` in one batch with it. With `answered`, the tool
// `say` returns how many responses to server requests have arrived so far.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [way, ...options] = process.argv.slice(2);
const option = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
const toolsFile = option('--tools');
const helloFile = option('--hello');
const HELLO = helloFile
  ? readFileSync(helloFile, 'utf8')
  : '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"raw","version":"1"}}';
const TOOLS = toolsFile
  ? readFileSync(toolsFile, 'utf8')
  : '[{"name":"say","inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}}]';

/** Large texts are generated here, so that no client has to send them. `unit` is repeated up to `bytes`, `times` times. */
function bigTexts({ unit, bytes, kind, times = 1, before = '[', after = '0]' }, say, id) {
  const count = Math.floor(bytes / unit.length);
  let middle = '';
  if (unit.includes('#')) for (let at = 0; middle.length < bytes; at += 1) middle += unit.replace('#', at);
  else middle = unit.repeat(count);
  const value = before + middle + after;
  if (kind === 'answer')
    return [say(`{"content":[{"type":"text","text":"big"}],"structuredContent":{"v":${value}}}`)];
  if (kind === 'batch')
    // The id is in the middle: neither end of the text contains it.
    return [
      `[{"jsonrpc":"2.0","result":{"v":[{"id":7,"method":"x"}]},"id":1},${say('{"content":[]}').replace('"id"', '"more":{"id":3},"id"').replace('"result":{', `"result":{"v":${value},`)},{"id":2,"method":"notifications/message","params":{}}]`,
      ...Array.from({ length: times - 1 }, () => '{"jsonrpc":"2.0","method":"notifications/none"}'),
    ];
  if (kind === 'middle')
    return [`{"jsonrpc":"2.0","before":${value},"id":${JSON.stringify(id)},"result":{},"after":${value}}`];
  const notice = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${value}}}`;
  const late = `{"jsonrpc":"2.0","id":1999999999,"result":{"v":${value}}}`;
  return [
    ...Array.from({ length: times }, () => (kind === 'late' ? late : notice)),
    say('{"content":[{"type":"text","text":"big"}]}'),
  ];
}

/** The messages before a handshake result, and then the result. */
function withBefore(answer) {
  const texts = [...Array(Number(option('--before') ?? 0)).fill(option('--text')), answer];
  return options.includes('--batch') ? [`[${texts.join()}]`] : texts;
}

let answered = 0;

/** The texts to send in response to a received text. */
function answers(text) {
  const { id, method, params } = JSON.parse(text);
  if (method === undefined) answered += 1;
  if (id === undefined || method === undefined) return [];
  const isHandshake = method === 'initialize' || (method === 'server/discover' && helloFile);
  const isModern = !isHandshake && params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
  const more = isModern ? '{"resultType":"complete","ttlMs":0,"cacheScope":"private",' : '{';
  const say = (result) =>
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result.replace(/^\{(?!\})/, more)}}`;
  if (isHandshake) return withBefore(say(HELLO));
  if (method === 'tools/list') return [say(`{"tools":${TOOLS}}`)];
  if (method === 'ping') return [say('{}')];
  if (method !== 'tools/call')
    return [`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no"}}`];
  const { lines = [], times = 1, silent = false, text: words = 'said', big } = params.arguments;
  if (big) return bigTexts(big, say, id);
  if (params.arguments.answered)
    return [say(JSON.stringify({ content: [{ type: 'text', text: `${answered}` }] }))];
  const answer = say(JSON.stringify({ content: [{ type: 'text', text: words }] }));
  const said = Array(times).fill(lines).flat();
  return [...said.map((line) => line.replaceAll('$ID', JSON.stringify(id))), ...(silent ? [] : [answer])];
}

function overHttp() {
  let stream;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const isStream = way === 'sse' && request.method === 'GET';
    if (isStream) {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      return stream.write('event: endpoint\ndata: /message\n\n');
    }
    if (request.method !== 'POST') return response.writeHead(405).end();
    const texts = answers(body);
    const events = texts.map((text) => `data: ${text}\n\n`).join('');
    if (way === 'sse') {
      // Only the older transport is supported here.
      if (request.url !== '/message') return response.writeHead(404).end();
      response.writeHead(202).end();
      return stream.write(events);
    }
    if (texts.length === 0) return response.writeHead(202).end();
    const isPlain = texts.length === 1 && !options.includes('--stream');
    response
      .writeHead(200, { 'content-type': isPlain ? 'application/json' : 'text/event-stream' })
      .end(isPlain ? texts[0] : events);
  });
  return server;
}

if (way === 'stdio') {
  for await (const line of createInterface({ input: process.stdin }))
    for (const text of answers(line)) process.stdout.write(`${text}\n`);
} else {
  const server = overHttp();
  if (way === 'websocket') {
    const { WebSocketServer } = await import('ws');
    new WebSocketServer({ server }).on('connection', (socket) =>
      socket.on('message', (data) => {
        for (const text of answers(String(data))) socket.send(text);
      }),
    );
  }
  server.listen(0, '127.0.0.1', () => process.stdout.write(`READY ${server.address().port}\n`));
  process.stdin.on('end', () => process.exit(0)).resume();
}
