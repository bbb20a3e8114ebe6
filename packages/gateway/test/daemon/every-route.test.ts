/** Every route of the daemon, from its own table: unauthenticated requests are rejected. */
import { request } from 'node:http';
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from './own-daemon.js';

interface Address {
  readonly method: string;
  readonly path: string;
}

const OPEN = new Set(['/health', '/ready']);

let own: OwnDaemon;
let addresses: readonly Address[];
beforeAll(async () => {
  own = await ownDaemon({ servers: { up: fixture('echo') } });
  const { paths } = (await (await own.fetch('/openapi.json')).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  addresses = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{[^}]*\}/g, 'up'),
    })),
  );
});
afterAll(() => own.close());

/** The status; the rest of the response is not read. */
function statusOf({ method, path }: Address, headers: Record<string, string>, body = '{}'): Promise<number> {
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return new Promise((resolve, reject) => {
    const sent = request(
      own.daemon.url + path,
      { method, headers: { ...(hasBody && { 'content-type': 'application/json' }), ...headers } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
        sent.destroy();
      },
    );
    sent.on('error', reject);
    sent.end(hasBody ? body : undefined);
  });
}

const guarded = (): readonly Address[] => addresses.filter(({ path }) => !OPEN.has(path));
const withToken = (): Record<string, string> => ({ authorization: `Bearer ${own.daemon.token}` });

describe('every route', () => {
  it('is in the table', () => {
    const paths = new Set(addresses.map(({ path }) => path));
    for (const path of ['/mcp', '/mcp/call', '/mcp/calls', '/tools', '/servers', '/metrics', '/api/servers'])
      expect(paths).toContain(path);
    expect(addresses.length).toBeGreaterThan(40);
  });

  it('requires a valid token', async () => {
    for (const address of guarded()) {
      expect({ ...address, status: await statusOf(address, {}) }).toEqual({ ...address, status: 401 });
    }
    const [first] = guarded();
    if (first !== undefined) expect(await statusOf(first, { authorization: 'Bearer tbk_wrong' })).toBe(401);
  });

  it('rejects web pages, other host names and other content types', async () => {
    for (const address of addresses) {
      const status = async (headers: Record<string, string>): Promise<number> =>
        statusOf(address, { ...withToken(), ...headers });
      expect({ ...address, host: await status({ host: 'evil.example' }) }).toEqual({ ...address, host: 421 });
      for (const origin of ['https://evil.example', 'null'])
        expect({ ...address, origin: await status({ origin }) }).toEqual({ ...address, origin: 403 });
      if (address.method === 'GET' || address.method === 'DELETE') continue;
      expect({ ...address, type: await status({ 'content-type': 'text/plain' }) }).toEqual({
        ...address,
        type: 415,
      });
    }
  });

  it('rejects a body that is too large', async () => {
    const body = 'x'.repeat(5 * 1_024 * 1_024);
    for (const address of guarded()) {
      if (address.method === 'GET' || address.method === 'DELETE') continue;
      const status = await statusOf(address, withToken(), body).catch(() => 413);
      expect({ ...address, isTaken: status < 400 }).toEqual({ ...address, isTaken: false });
    }
  });
});

it('two clients with the same ids get their own answers', async () => {
  const ask = async (client: string, id: number): Promise<boolean> => {
    const text = `${client} ${id}`;
    const response = await own.fetch('/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'up_echo',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: {
          name: 'up_echo',
          arguments: { text },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    const answer = (await response.json()) as { id: number; result: { content: Array<{ text: string }> } };
    return answer.id === id && answer.result.content[0]?.text === text;
  };
  const asked = Array.from({ length: 100 }, (_, id) => [ask('one', id), ask('two', id)]).flat();
  expect((await Promise.all(asked)).every(Boolean)).toBe(true);
});
