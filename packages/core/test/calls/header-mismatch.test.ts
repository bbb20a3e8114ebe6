/** After a header mismatch error, the tools are listed again and the call is retried with the new definition. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { afterAll, expect, it, onTestFinished } from 'vitest';

const home = await temporaryDirectory();
afterAll(() => home.remove());

interface Asked {
  readonly method: string;
  readonly header: unknown;
}

/** From its second list on, it requires the argument in a header. */
async function openServer() {
  const asked: Asked[] = [];
  let lists = 0;
  const resultOf = (method: string): object => {
    if (method === 'server/discover')
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
    if (method === 'tools/call') return { content: [{ type: 'text', text: 'called' }] };
    lists += 1;
    const region = { type: 'string', ...(lists > 1 && { 'x-mcp-header': 'Region' }) };
    return { tools: [{ name: 'place', inputSchema: { type: 'object', properties: { region } } }] };
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const { id, method } = JSON.parse(body);
    const header = request.headers['mcp-param-region'];
    asked.push({ method, header });
    const isRefused = method === 'tools/call' && header === undefined;
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
    const answer = isRefused
      ? { error: { code: -32020, message: 'Header mismatch: Mcp-Param-Region is missing' } }
      : { result: { resultType: 'complete', ...resultOf(method) } };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const runtime = await createRuntime({
    stateDir: home.path,
    pins: 'off',
    servers: { web: { type: 'http', url } },
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  const calls = (): unknown[] =>
    asked.flatMap(({ method, header }) => (method === 'tools/call' ? [header] : []));
  return { runtime, calls };
}

it('the retry has the header that the new list requires', async () => {
  const { runtime, calls } = await openServer();
  await runtime.callTool('web', 'place', { region: 'north' });
  expect(calls()).toEqual([undefined, 'north']);
});

it('the retry is authorized for the new definition of the tool', async () => {
  const { runtime, calls } = await openServer();
  await runtime.pins.load();
  runtime.on('catalog.changed', () =>
    runtime.setRules([{ rule: { action: 'deny', tool: 'place' }, from: 'options', position: 0 }]),
  );
  await expect(runtime.callTool('web', 'place', { region: 'north' })).rejects.toMatchObject({
    code: 'CALL_DENIED',
  });
  expect(calls()).toEqual([undefined]);
});
