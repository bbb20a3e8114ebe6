import type { ErrorCode } from 'turnbuckle';
import { ERRORS } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { openServer } from './open-server.js';
import { exchange, request } from './raw-request.js';

const HOST = 'Host: 127.0.0.1';
const TOKEN = 'Authorization: Bearer all';
const JSON_TYPE = 'Content-Type: application/json';
const POST = [HOST, TOKEN, JSON_TYPE, 'Content-Length: 2'];

/** A request by its first line and its headers, and the code of the error. */
type Row = [name: string, code: ErrorCode, first: string, headers: readonly string[], body?: string];
const REFUSED: Row[] = [
  ['no token', 'TOKEN_REQUIRED', 'GET /tools', [HOST]],
  ['no token on a path that does not exist', 'TOKEN_REQUIRED', 'GET /nothing', [HOST]],
  ['a wrong token', 'TOKEN_REQUIRED', 'GET /tools', [HOST, 'Authorization: Bearer wrong']],
  ['an empty token', 'TOKEN_REQUIRED', 'GET /tools', [HOST, 'Authorization: Bearer ']],
  ['another scheme', 'TOKEN_REQUIRED', 'GET /tools', [HOST, 'Authorization: Basic all']],
  ['a token of two words', 'TOKEN_REQUIRED', 'GET /tools', [HOST, 'Authorization: Bearer all all']],
  ['a token in the query', 'TOKEN_REQUIRED', 'GET /tools?token=all&access_token=all', [HOST]],
  ['a token in a cookie', 'TOKEN_REQUIRED', 'GET /tools', [HOST, 'Cookie: token=all']],
  ['too little access', 'ACCESS_DENIED', 'GET /tools', [HOST, 'Authorization: Bearer caller']],
  ['another host', 'HOST_REFUSED', 'GET /tools', ['Host: evil.example', TOKEN]],
  ['another host, open route', 'HOST_REFUSED', 'GET /health', ['Host: evil.example']],
  ['a host that begins like ours', 'HOST_REFUSED', 'GET /tools', ['Host: 127.0.0.1.evil.example', TOKEN]],
  ['a host that ends like ours', 'HOST_REFUSED', 'GET /tools', ['Host: evil-localhost', TOKEN]],
  ['a host with a user', 'HOST_REFUSED', 'GET /tools', ['Host: localhost@evil.example', TOKEN]],
  ['a host with our name as port', 'HOST_REFUSED', 'GET /tools', ['Host: evil:localhost', TOKEN]],
  ['another IPv6 host', 'HOST_REFUSED', 'GET /tools', ['Host: [::2]:80', TOKEN]],
  ['all interfaces', 'HOST_REFUSED', 'GET /tools', ['Host: 0.0.0.0', TOKEN]],
  ['an empty host', 'HOST_REFUSED', 'GET /tools', ['Host: ', TOKEN]],
  ['no host', 'HOST_REFUSED', 'GET /tools', [TOKEN]],
  ['a foreign origin', 'ORIGIN_REFUSED', 'GET /tools', [HOST, TOKEN, 'Origin: https://evil.example']],
  ['a foreign origin, open route', 'ORIGIN_REFUSED', 'GET /health', [HOST, 'Origin: https://evil.example']],
  ['the origin null', 'ORIGIN_REFUSED', 'GET /tools', [HOST, TOKEN, 'Origin: null']],
  [
    'another port of this machine',
    'ORIGIN_REFUSED',
    'GET /tools',
    [HOST, TOKEN, 'Origin: http://127.0.0.1:1'],
  ],
  [
    'our origin with a trailing slash',
    'ORIGIN_REFUSED',
    'GET /tools',
    [HOST, TOKEN, 'Origin: http://127.0.0.1/'],
  ],
  ['a preflight', 'ORIGIN_REFUSED', 'OPTIONS /mcp', [HOST, 'Origin: https://evil.example']],
  ['OPTIONS', 'METHOD_REFUSED', 'OPTIONS /mcp', [HOST]],
  ['OPTIONS for all', 'METHOD_REFUSED', 'OPTIONS *', [HOST]],
  ['TRACE', 'METHOD_REFUSED', 'TRACE /mcp', [HOST, TOKEN]],
  ['a wrong method', 'METHOD_REFUSED', 'GET /mcp', [HOST, TOKEN]],
  ['a fixed path by the method of an open one', 'METHOD_REFUSED', 'GET /mcp/call', [HOST, TOKEN]],
  [
    'text/plain',
    'CONTENT_TYPE_REFUSED',
    'POST /mcp',
    [HOST, TOKEN, 'Content-Type: text/plain', 'Content-Length: 2'],
    '{}',
  ],
  [
    'a form',
    'CONTENT_TYPE_REFUSED',
    'POST /mcp',
    [HOST, TOKEN, 'Content-Type: application/x-www-form-urlencoded'],
    '',
  ],
  [
    'multipart',
    'CONTENT_TYPE_REFUSED',
    'POST /mcp',
    [HOST, TOKEN, 'Content-Type: multipart/form-data; boundary=x'],
  ],
  ['no type', 'CONTENT_TYPE_REFUSED', 'POST /mcp', [HOST, TOKEN]],
  [
    'a type that begins like JSON',
    'CONTENT_TYPE_REFUSED',
    'POST /mcp',
    [HOST, TOKEN, 'Content-Type: application/jsonx'],
  ],
  [
    'JSON as a parameter',
    'CONTENT_TYPE_REFUSED',
    'POST /mcp',
    [HOST, TOKEN, 'Content-Type: text/plain; application/json'],
  ],
  ['another charset', 'CONTENT_TYPE_REFUSED', 'POST /mcp', [HOST, TOKEN, `${JSON_TYPE}; charset=utf-16`]],
  ['a compressed body', 'CONTENT_TYPE_REFUSED', 'POST /mcp', [...POST, 'Content-Encoding: gzip'], '{}'],
  ['two tokens', 'REQUEST_INVALID', 'GET /tools', [HOST, TOKEN, 'authorization: Bearer wrong']],
  ['the same token twice', 'REQUEST_INVALID', 'GET /tools', [HOST, TOKEN, TOKEN]],
  ['two hosts', 'REQUEST_INVALID', 'GET /tools', [HOST, 'HOST: evil.example', TOKEN]],
  ['two origins', 'REQUEST_INVALID', 'GET /tools', [HOST, TOKEN, 'Origin: http://127.0.0.1', 'Origin: null']],
  ['two types', 'REQUEST_INVALID', 'POST /mcp', [...POST, 'Content-Type: text/plain'], '{}'],
  ['GET with a body', 'REQUEST_INVALID', 'GET /tools', [HOST, TOKEN, 'Content-Length: 2'], '{}'],
  ['DELETE with a body', 'REQUEST_INVALID', 'DELETE /servers/a', [HOST, TOKEN, 'Content-Length: 2'], '{}'],
  ['an absolute URL as the request target', 'REQUEST_INVALID', 'GET http://127.0.0.1/tools', [HOST, TOKEN]],
  ['another expectation', 'REQUEST_INVALID', 'POST /mcp', [...POST, 'Expect: 200-ok'], '{}'],
  ['two slashes', 'PATH_UNKNOWN', 'GET //tools', [HOST, TOKEN]],
  ['a slash at the end', 'PATH_UNKNOWN', 'GET /tools/', [HOST, TOKEN]],
  ['capitals', 'PATH_UNKNOWN', 'GET /Tools', [HOST, TOKEN]],
  ['a path with ..', 'PATH_UNKNOWN', 'GET /health/../tools', [HOST, TOKEN]],
  ['.. as a parameter', 'PATH_UNKNOWN', 'GET /servers/..', [HOST, TOKEN]],
  ['encoded .. as a parameter', 'PATH_UNKNOWN', 'GET /servers/%2e%2e', [HOST, TOKEN]],
  ['an encoded slash', 'PATH_UNKNOWN', 'GET /servers/a%2fb', [HOST, TOKEN]],
  ['an encoded backslash', 'PATH_UNKNOWN', 'GET /servers/a%5Cb', [HOST, TOKEN]],
  ['an encoded NUL', 'PATH_UNKNOWN', 'GET /servers/a%00', [HOST, TOKEN]],
  ['an invalid percent-encoding', 'PATH_UNKNOWN', 'GET /servers/%zz', [HOST, TOKEN]],
  ['an empty parameter', 'PATH_UNKNOWN', 'GET /servers/', [HOST, TOKEN]],
  ['encoded letters of a fixed path', 'PATH_UNKNOWN', 'GET /%74ools', [HOST, TOKEN]],
  ['a fragment', 'PATH_UNKNOWN', 'GET /tools#x', [HOST, TOKEN]],
  // An open route on the way does not grant access.
  ['a path that leads through an open route', 'TOKEN_REQUIRED', 'GET /health/../tools', [HOST]],
  ['an open route behind two slashes', 'TOKEN_REQUIRED', 'GET //health', [HOST]],
  ['an open route in the query', 'TOKEN_REQUIRED', 'GET /tools?/health', [HOST]],
  ['length and chunks', 'REQUEST_INVALID', 'POST /mcp', [...POST, 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['two lengths', 'REQUEST_INVALID', 'POST /mcp', [...POST, 'Content-Length: 3'], '{} '],
  [
    'a length with a sign',
    'REQUEST_INVALID',
    'POST /mcp',
    [HOST, TOKEN, JSON_TYPE, 'Content-Length: +2'],
    '{}',
  ],
  [
    'another transfer encoding',
    'REQUEST_INVALID',
    'POST /mcp',
    [HOST, TOKEN, JSON_TYPE, 'Transfer-Encoding: xchunked'],
    '0\r\n\r\n',
  ],
  [
    'two transfer encodings',
    'REQUEST_INVALID',
    'POST /mcp',
    [HOST, TOKEN, JSON_TYPE, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    '0\r\n\r\n',
  ],
  [
    'a space before the colon',
    'REQUEST_INVALID',
    'POST /mcp',
    [HOST, TOKEN, JSON_TYPE, 'Content-Length : 2'],
    '{}',
  ],
  ['a folded header', 'REQUEST_INVALID', 'GET /tools', [HOST, TOKEN, 'X-A: b\r\n c']],
  ['a bare line feed', 'REQUEST_INVALID', 'GET /tools', [HOST, 'X-A: b\nAuthorization: Bearer all']],
  ['no HTTP at all', 'REQUEST_INVALID', 'HELO', []],
];

describe('authentication', () => {
  it.each<Row>(REFUSED)('rejects %s: %s', async (_, code, first, headers, body = '') => {
    const { port, reached } = await openServer();
    const { status, json, headers: answered } = await exchange(port, request(first, headers, body));
    expect({ status, code: json.code }).toEqual({ status: ERRORS[code].http, code });
    expect(json).toMatchObject({
      success: false,
      error: expect.stringMatching(/\.$/),
      hint: expect.any(String),
    });
    expect(answered['content-type']).toBe('application/json');
    expect(answered.connection).toBe('close');
    expect(Object.keys(answered).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(reached).toEqual([]);
  });

  it.each([
    ['localhost', 'Host: localhost'],
    ['capitals', 'Host: LOCALHOST:1'],
    ['IPv6', 'Host: [::1]:8080'],
    ['any port', 'Host: 127.0.0.1:65535'],
    ['a configured name', 'Host: tools.example:80'],
  ])('accepts the host %s', async (_, host) => {
    const { port } = await openServer({ auth: { hosts: ['Tools.example'] } });
    expect((await exchange(port, request('GET /tools', [host, TOKEN]))).status).toBe(200);
  });

  it.each(['http://localhost:81', 'https://console.example'])('accepts the origin %s', async (origin) => {
    const { port } = await openServer({ auth: { origins: ['https://console.example'] } });
    const { status, headers } = await exchange(
      port,
      request('GET /tools', ['Host: localhost:81', TOKEN, `Origin: ${origin}`]),
    );
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('says which scope is needed, where to get a token, and whether the token was invalid', async () => {
    const challengeInfo = {
      metadataUrl: 'https://a.example/meta',
      scopesFor: (access: string) => `tb:${access}`,
    };
    const { port } = await openServer({ auth: { challengeInfo } });
    const ask = async (...more: string[]) =>
      (await exchange(port, request('GET /tools', [HOST, ...more]))).headers['www-authenticate'];
    const end = 'scope="tb:read", resource_metadata="https://a.example/meta"';
    expect(await ask()).toBe(`Bearer realm="turnbuckle", ${end}`);
    expect(await ask('Authorization: Bearer no')).toBe(
      `Bearer realm="turnbuckle", error="invalid_token", ${end}`,
    );
    expect(await ask('Authorization: Bearer caller')).toBe(
      `Bearer realm="turnbuckle", error="insufficient_scope", ${end}`,
    );
  });

  it('requires a token for every route that is not open', async () => {
    const { port, server, reached } = await openServer();
    const closed = server.router.routes.filter(({ access }) => access !== 'open');
    expect(closed.length).toBeGreaterThan(5);
    for (const { method, path } of closed) {
      const type = method === 'GET' || method === 'DELETE' ? [] : [JSON_TYPE];
      const answer = await exchange(port, request(`${method} ${path.replace(':', '')}`, [HOST, ...type]));
      expect(answer.status).toBe(401);
    }
    expect(reached).toEqual([]);
  });

  it('lists the methods of a path for authenticated clients', async () => {
    const { port } = await openServer();
    const { headers } = await exchange(port, request('PATCH /servers/a', [HOST, TOKEN, JSON_TYPE]));
    expect(headers.allow).toBe('PUT, GET, DELETE');
  });

  it('handles a request after a rejected one only on another connection', async () => {
    const { port, reached } = await openServer();
    const smuggled = `GET /tools HTTP/1.1\r\n${HOST}\r\n${TOKEN}\r\n\r\n`;
    const first = `POST /mcp HTTP/1.1\r\n${HOST}\r\n${JSON_TYPE}\r\nContent-Length: 0\r\n\r\n`;
    const { status, text } = await exchange(port, first + smuggled);
    expect(status).toBe(401);
    expect(text).not.toContain('HTTP/1.1');
    expect(reached).toEqual([]);
  });

  it('sends every response with headers against sniffing and caching', async () => {
    const { port } = await openServer();
    for (const path of ['/health', '/tools']) {
      const { headers } = await exchange(port, request(`GET ${path}`, [HOST]));
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    }
  });
});
