// A server that answers with the exact text that it was sent, and with numbers that JavaScript cannot represent. Over
// stdio, or over HTTP on a free port; for either era.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [way, era] = process.argv.slice(2);
const NUMBERS = '{"big":12345678901234567890,"one":1.0,"tiny":1E-9,"plain":7}';
const TOOL =
  '{"name":"raw","inputSchema":{"type":"object","properties":{"id":{"maximum":18446744073709551615}}}}';
const complete = era === 'modern' ? ',"resultType":"complete"' : '';
const listed = era === 'modern' ? `${complete},"ttlMs":0,"cacheScope":"private"` : '';

function answer(text) {
  const { id, method } = JSON.parse(text);
  if (id === undefined) return undefined;
  const say = (result) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
  switch (`${era} ${method}`) {
    case 'modern server/discover':
      return say(
        `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"raw","version":"1"}}${listed}}`,
      );
    case 'legacy initialize':
      return say(
        '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}',
      );
    case `${era} tools/list`:
      return say(`{"tools":[${TOOL}]${listed}}`);
    case `${era} tools/call`:
      return say(
        `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${NUMBERS},"_meta":{"own":2.50},"unknown":-0.0${complete}}`,
      );
    default:
      return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"Method not found"}}`;
  }
}

if (way === 'stdio') {
  for await (const line of createInterface({ input: process.stdin })) {
    const text = answer(line);
    if (text !== undefined) process.stdout.write(`${text}\n`);
  }
} else {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const text = request.method === 'POST' ? answer(body) : '';
    if (!text) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
}
