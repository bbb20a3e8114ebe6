import { Flags } from '../kernel/flags.js';
import { makeSdkServer } from '../sdk-server.js';

// A server of the official SDK, on stdio or HTTP (with sessions in the legacy era).
// --era both|legacy|modern; --port, --outlive-stdin.
const flags = new Flags();
const era = flags.choice('era', ['both', 'legacy', 'modern']);

if (flags.choice('transport', ['stdio', 'http']) === 'http') {
  const { serveSdkHttp } = await import('../transports/sdk-http.js');
  await serveSdkHttp(makeSdkServer, {
    era,
    port: flags.number('port', 0),
    outliveStdin: flags.on('outlive-stdin'),
  });
} else if (era === 'legacy') {
  const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  await makeSdkServer().connect(new StdioServerTransport());
} else {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  serveStdio(makeSdkServer, { legacy: era === 'modern' ? 'reject' : 'serve' });
}
