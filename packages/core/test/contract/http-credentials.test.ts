import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { expect, it } from 'vitest';

it.each(['http', 'sse'])('a user name and password in the URL are sent in a header (%s)', async (type) => {
  const seen = new Set<string | undefined>();
  const web = createServer((request, response) => {
    seen.add(request.headers.authorization);
    response.writeHead(401).end();
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const { port } = web.address() as AddressInfo;
  const home = await temporaryDirectory();
  const url = `http://ada:p%40ss@127.0.0.1:${port}/mcp`;
  const runtime = await createRuntime({ stateDir: home.path, servers: { web: { type, url } } });
  await runtime.connectAll();
  expect([...seen]).toEqual([`Basic ${Buffer.from('ada:p@ss').toString('base64')}`]);
  expect(JSON.stringify(runtime.status())).not.toContain('p%40ss');
  await runtime.close();
  await home.remove();
  web.close();
});
