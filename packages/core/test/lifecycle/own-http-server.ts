/** An HTTP server in this process whose responses the test writes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

export type Answer = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void;

/** Returns its URL. `onGet` handles the GET stream of a client; without it there is none. */
export async function ownHttpServer(
  answer: Answer,
  onGet: (response: ServerResponse) => void = (response) => void response.writeHead(405).end(),
): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return onGet(response);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    answer(JSON.parse(await text(request)), response, request);
  });
  onTestFinished(() => void server.close(() => {}).closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`;
}

export function sendJson(response: ServerResponse, body: object, status = 200): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', ...body }));
}

/** Answers like a legacy server with these tools. */
export function answerAsOlder(
  asked: Asked,
  response: ServerResponse,
  tools: readonly string[] = ['good'],
): void {
  if (asked.id === undefined) return void response.writeHead(202).end();
  sendJson(response, olderAnswer(asked, tools));
}

/** What a legacy server with these tools answers. */
export function olderAnswer({ id, method, params }: Asked, tools: readonly string[] = ['good']): object {
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'own', version: '1.0.0' },
    },
    'tools/list': { tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })) },
    'tools/call': { content: [{ type: 'text', text: params?.name }] },
  };
  const result = results[method];
  return { id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) };
}
