// node server.mjs [--era both|modern|legacy] [--transport http|stdio]
// The server behind the gateway. Over HTTP it prints its URL as its first line, and ends when stdin closes.
import { parseArgs } from 'node:util';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer } from './create-server.mjs';
import { serveHttp } from './serve-http.mjs';
import { World } from './world.mjs';

const { values } = parseArgs({
  options: { era: { type: 'string', default: 'both' }, transport: { type: 'string', default: 'http' } },
});
const { era, transport } = values;
if (era !== 'both' && era !== 'modern' && era !== 'legacy')
  throw new Error('--era is both, modern or legacy.');
if (transport !== 'http' && transport !== 'stdio') throw new Error('--transport is http or stdio.');

const world = new World();
if (transport === 'http') {
  process.stdout.write(`${await serveHttp(world, era)}\n`);
  process.stdin.resume().once('end', () => process.exit());
} else if (era === 'legacy') {
  const server = createServer(world, 'legacy');
  world.forwardChanges(server);
  await server.connect(new StdioServerTransport());
} else {
  serveStdio(
    (context) => {
      const server = createServer(world, context.era);
      world.forwardChanges(server);
      return server;
    },
    { legacy: era === 'modern' ? 'reject' : 'serve' },
  );
}
