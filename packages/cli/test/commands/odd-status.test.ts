/**
 * When an assertion fails, Node's `assert` reads and parses the source file of its caller, to show the line. For a bundle
 * that takes half a second, which blocks the daemon; and any server can make an assertion of the HTTP client fail.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createHome, turnbuckle } from './turnbuckle.js';

it('an HTTP status that there cannot be costs the built command no look into its own file', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const home = await createHome({ far: { url: `http://127.0.0.1:${port}/mcp` } });
  onTestFinished(() => home.remove());
  const { code, stdout, stderr } = await turnbuckle(['call', 'far', 'x', '--verbose'], { home });
  expect(code).not.toBe(0);
  // Node's own message would quote the line, `assert(statusCode >= 100)`.
  expect(stdout + stderr).toContain(
    'AssertionError [ERR_ASSERTION]: Something did not hold that should have',
  );
});
