/** Requests written by hand, for what no well-behaved client sends. */
import type { Stand } from './stand.js';

export interface RawOptions {
  readonly path?: string;
  readonly token?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly id?: unknown;
    readonly result?: Record<string, unknown>;
    readonly error?: Record<string, unknown>;
  };
}

const CLIENT_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

export async function send(stand: Stand, body: unknown, options: RawOptions = {}): Promise<RawAnswer> {
  const { path = '/mcp', token = 'token', method = 'POST', headers = {} } = options;
  const all: Record<string, string | undefined> = {
    authorization: `Bearer ${token}`,
    ...(method === 'POST' && { 'content-type': 'application/json' }),
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  const response = await fetch(stand.url + path, {
    method,
    headers: Object.fromEntries(
      Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined),
    ),
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: readBody(text) };
}

function readBody(text: string): RawAnswer['body'] {
  if (text === '') return {};
  // On a stream, notifications may come before the response.
  const data = [...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1];
  return JSON.parse(data ?? text);
}

/** A modern request with all required headers and fields, except for the given changes. */
export function modern(
  stand: Stand,
  message: { readonly method: string; readonly params?: Record<string, unknown> },
  options: RawOptions & { readonly meta?: Record<string, unknown> } = {},
): Promise<RawAnswer> {
  const { meta, headers, ...rest } = options;
  const params = { ...message.params, _meta: { ...CLIENT_META, ...meta } };
  const name = message.params?.name ?? message.params?.uri;
  return send(
    stand,
    { jsonrpc: '2.0', id: 1, method: message.method, params },
    {
      ...rest,
      headers: {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': message.method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
        ...headers,
      },
    },
  );
}

/** Begins a legacy session and returns its id. */
export async function initialize(
  stand: Stand,
  options: RawOptions = {},
  capabilities: object = {},
): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'raw', version: '1' } };
  const { headers } = await send(stand, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, options);
  return headers.get('mcp-session-id') ?? '';
}
