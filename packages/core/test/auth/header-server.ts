import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server that returns the headers of each call. */
export async function startHeaderServer(): Promise<string> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const { id, method } = JSON.parse(Buffer.concat(parts).toString('utf8'));
      if (id === undefined) return response.writeHead(202).end();
      const text = JSON.stringify(request.headers);
      const results: Readonly<Record<string, unknown>> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'headers', version: '1' },
        },
        'tools/list': { tools: [{ name: 'headers', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text }] },
      };
      const result = results[method];
      const error = { code: -32601, message: 'Method not found' };
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(
        JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
