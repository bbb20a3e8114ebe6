import { describe, expect, it } from 'vitest';
import { createGuardedFetch, type GuardedRequest } from '../../src/fetching/guarded-fetch.js';
import { firstHop, nextHop } from '../../src/fetching/hop.js';
import { startServer } from './canary.js';

type Seen = { method: string; url: string; body: string; headers: Record<string, string> };

/** `/<status>?<where>` redirects there; every other path returns the received request as JSON. */
async function startEcho() {
  return startServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const [path = '', to] = (request.url ?? '').split('?');
      const status = Number(path.slice(1));
      if (to !== undefined && status > 0) {
        response.writeHead(status, { location: decodeURIComponent(to) }).end('moved');
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ method: request.method, url: request.url, body, headers: request.headers }),
      );
    });
  });
}

const first = await startEcho();
const second = await startEcho();
const allowedOrigins = [first.origin, second.origin];
const KEYS = {
  authorization: 'Bearer canary-1',
  cookie: 'canary-2',
  'proxy-authorization': 'canary-3',
  'x-api-key': 'canary-4',
  dpop: 'canary-5',
  accept: 'application/json',
};

async function fetched(url: string, init?: GuardedRequest): Promise<Seen> {
  const response = await createGuardedFetch({ allowedOrigins })(url, init);
  return (await response.json()) as Seen;
}
const to = (status: number, url: string): string => `${first.origin}/${status}?${encodeURIComponent(url)}`;
const post = { method: 'POST', body: 'effect', headers: KEYS };
const refusedRedirect = { code: 'FETCH_REFUSED', data: { reason: 'redirect' } };

describe.each([301, 302, 303, 307, 308])('a redirect by %s', (status) => {
  it('keeps the headers of a GET within its origin', async () => {
    const seen = await fetched(to(status, '/next'), { headers: KEYS });
    expect(seen).toMatchObject({ method: 'GET', url: '/next', headers: KEYS });
  });

  it('sends no credential to another origin', async () => {
    const seen = await fetched(to(status, `${second.origin}/next`), { headers: KEYS });
    expect(seen).toMatchObject({ method: 'GET', url: '/next', headers: { accept: 'application/json' } });
    expect(JSON.stringify(seen)).not.toContain('canary');
  });

  it('never sends a POST to another origin', async () => {
    const before = second.requests.length;
    await expect(fetched(to(status, `${second.origin}/next`), post)).rejects.toMatchObject(refusedRedirect);
    expect(second.requests.length).toBe(before);
  });

  it('is returned to a caller that handles redirects itself', async () => {
    const before = second.requests.length;
    const url = to(status, `${second.origin}/next`);
    const response = await createGuardedFetch({ allowedOrigins })(url, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([status, `${second.origin}/next`]);
    expect(second.requests.length).toBe(before);
  });

  it('fails for a caller that allows none', async () => {
    await expect(fetched(to(status, '/next'), { redirect: 'error' })).rejects.toMatchObject(refusedRedirect);
  });
});

it.each([301, 302])('a POST is not sent again for a %s', async (status) => {
  const before = first.requests.length;
  await expect(fetched(to(status, '/next'), post)).rejects.toMatchObject(refusedRedirect);
  expect(first.requests.length).toBe(before + 1);
});

it('a POST becomes a GET without a body by a 303', async () => {
  const seen = await fetched(to(303, '/next'), post);
  expect(seen).toMatchObject({ method: 'GET', url: '/next', body: '' });
  expect(Object.keys(seen.headers).filter((name) => name.startsWith('content-'))).toEqual([]);
});

it.each([307, 308])('a POST is sent again within its origin for a %s', async (status) => {
  expect(await fetched(to(status, '/next'), post)).toMatchObject({ method: 'POST', body: 'effect' });
});

it('endless redirects are limited', async () => {
  const around = await startServer((request, response) => {
    response.writeHead(302, { location: `${request.url}x` }).end();
  });
  const fetch = createGuardedFetch({ allowedOrigins: [around.origin], maxRedirects: 5 });
  await expect(fetch(around.origin)).rejects.toMatchObject(refusedRedirect);
  expect(around.requests.length).toBe(6);
});

it('by default three redirects are followed', async () => {
  const chain = (length: number): string =>
    length === 0 ? '/end' : `/302?${encodeURIComponent(chain(length - 1))}`;
  const fetch = createGuardedFetch({ allowedOrigins });
  const response = await fetch(`${first.origin}${chain(3)}`);
  expect([response.url, response.redirected]).toEqual([`${first.origin}/end`, true]);
  await expect(fetch(`${first.origin}${chain(4)}`)).rejects.toMatchObject(refusedRedirect);
});

it.each(['http://', 'https://[', 'https://1.2.3.256/'])(
  'a redirect to an invalid address is rejected: %s',
  async (where) => {
    await expect(fetched(to(302, where))).rejects.toMatchObject(refusedRedirect);
  },
);

it.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:,x'])(
  'a redirect to another scheme is rejected: %s',
  async (where) => {
    await expect(fetched(to(302, where))).rejects.toMatchObject({
      code: 'FETCH_REFUSED',
      data: { reason: 'scheme' },
    });
  },
);

it('a redirect without a location is returned as a response', async () => {
  const silent = await startServer((_request, response) => response.writeHead(302).end('text'));
  const response = await createGuardedFetch({ allowedOrigins: [silent.origin] })(silent.origin);
  expect([response.status, await response.text()]).toEqual([302, 'text']);
});

it('never leads from https to http', () => {
  const hop = firstHop('https://example.com/', {});
  expect(() => nextHop(hop, 302, 'http://example.com/')).toThrow('https to plain http');
  expect(nextHop(hop, 302, 'https://example.com:8443/')?.url.href).toBe('https://example.com:8443/');
  expect(nextHop(hop, 304, 'https://example.com/')).toBeUndefined();
});

it('sends forms as application/x-www-form-urlencoded', async () => {
  const seen = await fetched(`${first.origin}/token`, {
    method: 'POST',
    body: new URLSearchParams({ a: 'b c' }),
  });
  expect(seen).toMatchObject({
    body: 'a=b+c',
    headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
  });
});

it('ignores a host header of the caller', async () => {
  const seen = await fetched(`${first.origin}/`, { headers: { host: 'inside.example' } });
  expect(seen.headers.host).toBe(`127.0.0.1:${first.port}`);
});

it.each(['DELETE', 'PUT', 'CONNECT'])('%s is not sent', async (method) => {
  await expect(fetched(first.origin, { method })).rejects.toMatchObject({ data: { reason: 'method' } });
});
