/** The same request in every way in which a client can send it: over HTTP in both eras, and over stdin and stdout. */
import { PassThrough } from 'node:stream';
import { waitUntil } from '@turnbuckle/testing';
import type { Caller } from 'turnbuckle';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import type { Stand } from './stand.js';

export type Ask = (method: string, params: Record<string, unknown>) => Promise<RawAnswer['body']>;

export interface SurfaceOptions {
  readonly token: string;
  /** The caller of that token. */
  readonly caller: Caller;
  readonly view?: string | undefined;
}

export const SURFACES = ['modern', 'legacy', 'stdio'] as const;
export type Surface = (typeof SURFACES)[number];

const pathOf = (view: string | undefined): string => (view === undefined ? '/mcp' : `/mcp/${view}`);

const OPENED: Readonly<Record<Surface, (stand: Stand, options: SurfaceOptions) => Promise<Ask>>> = {
  modern: async (stand, { token, view }) => {
    return async (method, params) => {
      const { body } = await modern(stand, { method, params }, { path: pathOf(view), token });
      return body;
    };
  },
  legacy: async (stand, { token, view }) => {
    const path = pathOf(view);
    const headers = { 'mcp-session-id': await initialize(stand, { path, token }) };
    return async (method, params) => {
      const message = { jsonrpc: '2.0', id: 1, method, params };
      const { body } = await send(stand, message, { path, token, headers });
      return body;
    };
  },
  stdio: async (stand, { caller, view }) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    void stand.endpoint.serveStdio({ input, output, caller: () => caller, maxBytes: 1_000_000 }, view);
    let text = '';
    output.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const answerTo = (id: number): RawAnswer['body'] | undefined =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
        .find((message) => message.id === id);
    let last = 0;
    const ask: Ask = async (method, params) => {
      last += 1;
      const id = last;
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      await waitUntil(() => answerTo(id) !== undefined);
      return answerTo(id) ?? {};
    };
    const clientInfo = { name: 'raw', version: '1' };
    await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    return ask;
  },
};

/** Connects a client in that way; what it returns sends one request and resolves with the response. */
export const openSurface = (surface: Surface, stand: Stand, options: SurfaceOptions): Promise<Ask> =>
  OPENED[surface](stand, options);

/** The code of a refusal, wherever the response has it. */
export function codeOf({ error, result }: RawAnswer['body']): unknown {
  const data = error?.data as { code?: string } | undefined;
  const meta = result?._meta as { 'turnbuckle/error'?: { code?: string } } | undefined;
  return data?.code ?? meta?.['turnbuckle/error']?.code ?? error?.code;
}
