import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modern, type RawOptions, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

let stand: Stand;
beforeAll(async () => {
  stand = await openStand({ servers: { up: fixture('echo') } });
});
afterAll(() => stand.close());

const CALL = { method: 'tools/call', params: { name: 'up_echo', arguments: { text: 'hi' } } };
const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('headers of the newer revision', () => {
  it('may repeat the body, also in base64', async () => {
    expect((await modern(stand, CALL)).status).toBe(200);
    expect((await modern(stand, CALL, { headers: { 'mcp-name': base64('up_echo') } })).status).toBe(200);
  });

  it.each<[string, NonNullable<RawOptions['headers']>]>([
    ['no version', { 'mcp-protocol-version': undefined }],
    ['no method', { 'mcp-method': undefined }],
    ['another method', { 'mcp-method': 'tools/list' }],
    ['another spelling of the method', { 'mcp-method': 'Tools/Call' }],
    ['no name', { 'mcp-name': undefined }],
    ['another name', { 'mcp-name': 'up_add' }],
    ['another name in base64', { 'mcp-name': base64('up_add') }],
    ['broken base64', { 'mcp-name': '=?base64?*?=' }],
    ['an older version', { 'mcp-protocol-version': '2025-11-25' }],
  ])('refuses %s', async (_title, headers) => {
    expect(await modern(stand, CALL, { headers })).toMatchObject({
      status: 400,
      body: { id: 1, error: { code: -32020 } },
    });
  });

  it('require the protocol version and the capabilities of the client', async () => {
    const meta = { 'io.modelcontextprotocol/clientCapabilities': undefined };
    expect(await modern(stand, CALL, { meta })).toMatchObject({
      status: 400,
      body: { error: { code: -32602 } },
    });
    const version = '2099-01-01';
    const unknown = await modern(stand, CALL, {
      meta: { 'io.modelcontextprotocol/protocolVersion': version },
      headers: { 'mcp-protocol-version': version },
    });
    expect(unknown).toMatchObject({
      status: 400,
      body: { error: { code: -32022, data: { supported: ['2026-07-28'], requested: version } } },
    });
  });

  it('make methods that only older revisions have unknown', async () => {
    for (const method of ['ping', 'initialize', 'logging/setLevel', 'resources/subscribe'])
      expect(await modern(stand, { method })).toMatchObject({
        status: 404,
        body: { error: { code: -32601 } },
      });
  });
});

describe('invalid messages', () => {
  it.each([
    ['no JSON', '{', -32700],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], -32600],
    ['no version', { id: 1, method: 'ping' }, -32600],
    ['another spelling of a key', { jsonrpc: '2.0', id: 1, Method: 'ping' }, -32600],
    ['an invalid id', { jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }, -32600],
    ['invalid params', { jsonrpc: '2.0', id: 1, method: 'ping', params: [1] }, -32600],
  ])('%s is refused', async (_title, body, code) => {
    expect(await send(stand, body)).toMatchObject({ status: 400, body: { error: { code } } });
  });
});
