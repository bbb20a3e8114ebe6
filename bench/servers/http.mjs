// A bare MCP server over Streamable HTTP: stateless, responds in plain JSON. Prints its URL once it listens
// and ends when stdin ends, so that it never outlives the runner.
import { createServer } from 'node:http';
import { createAnswers } from './answers.mjs';
import { parseSettings } from './settings.mjs';

const answer = createAnswers(parseSettings());

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end();
    return;
  }
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const reply = answer(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    if (reply === undefined) {
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(reply),
    });
    response.end(reply);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') {
    process.stdout.write(`http://127.0.0.1:${address.port}/mcp\n`);
  }
});
process.stdin.once('end', () => process.exit(0)).resume();
