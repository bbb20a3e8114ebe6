/**
 * A proxy that knows nothing of gateways: a separate server on one side and a separate client on the other, like
 * programs that make a remote server local. What lets a gateway detect a loop is not forwarded.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface NaiveProxy {
  readonly url: string;
  /** Calls that came through. */
  calls(): number;
  lists(): number;
}

export interface ProxyTarget {
  readonly url: string;
  readonly token: string;
  /** The tool that its own tool `again` calls at the target. */
  readonly again: string;
}

type Message = { readonly id?: unknown; readonly method?: string; readonly params?: Record<string, unknown> };

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const AGAIN = { name: 'again', inputSchema: { type: 'object' } };
const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'proxy', version: '1' },
};
const INITIALIZE_RESULT = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'remote', version: '1' },
};

export async function openNaiveProxy(target: () => ProxyTarget): Promise<NaiveProxy> {
  const over = new AbortController();
  const streams = new Set<ServerResponse>();
  const counts = { calls: 0, lists: 0 };
  let session: Promise<string> | undefined;
  const headersOf = async () => ({
    ...HEADERS,
    authorization: `Bearer ${target().token}`,
    ...(session !== undefined && { 'mcp-session-id': await session }),
  });
  const post = async (message: object): Promise<Response> =>
    fetch(target().url, {
      method: 'POST',
      signal: over.signal,
      headers: await headersOf(),
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const begin = async (): Promise<string> => {
    const response = await post({ id: 0, method: 'initialize', params: HELLO });
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  const forwardNotifications = async (): Promise<void> => {
    const { body } = await fetch(target().url, { headers: await headersOf(), signal: over.signal });
    const decoder = new TextDecoder();
    for await (const part of body ?? [])
      if (decoder.decode(part, { stream: true }).includes('tools/list_changed'))
        for (const stream of streams)
          stream.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
  };
  const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
    if (session === undefined) {
      const beginning = begin();
      session = undefined;
      const id = await beginning;
      session ??= Promise.resolve(id);
      void forwardNotifications().catch(() => {});
    }
    const text = await (await post({ id: 1, method, params })).text();
    const line = text.startsWith('{') ? text : (/^data: (\{.*"id":1.*)$/m.exec(text)?.[1] ?? '{}');
    return JSON.parse(line) as Record<string, unknown>;
  };
  const answer = async ({ method, params = {} }: Message): Promise<Record<string, unknown>> => {
    if (method === 'initialize') return { result: INITIALIZE_RESULT };
    if (method === 'ping') return { result: {} };
    if (method === 'tools/list') {
      counts.lists += 1;
      const { result } = await ask('tools/list', {});
      return { result: { tools: [AGAIN, ...((result as { tools?: object[] })?.tools ?? [])] } };
    }
    if (method !== 'tools/call') return { error: { code: -32_601, message: 'unknown' } };
    counts.calls += 1;
    const { name, arguments: args } = params;
    const { result, error } = await ask('tools/call', {
      name: name === 'again' ? target().again : name,
      arguments: args,
    });
    return error === undefined ? { result } : { error };
  };
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.add(response);
      response.once('close', () => streams.delete(response));
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const message = JSON.parse(body || '{}') as Message;
      if (message.id === undefined) return void response.writeHead(202).end();
      void answer(message)
        .catch((error: unknown) => ({ error: { code: -32_603, message: String(error) } }))
        .then((received) => {
          response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
          response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...received }));
        });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    over.abort();
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    calls: () => counts.calls,
    lists: () => counts.lists,
  };
}
