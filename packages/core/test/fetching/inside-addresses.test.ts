import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createGuardedFetch, type GuardedFetchOptions } from '../../src/fetching/guarded-fetch.js';
import type { Target } from '../../src/fetching/target.js';
import { startCanary, startServer } from './canary.js';
import { INSIDE, INSIDE_ANSWERS, PUBLIC_ADDRESS } from './inside-addresses.js';

// Every connection leads to the canary: a hit is a connection that a real network might have made.
const canary = await startCanary();
const redirecting = await startServer((request, response) => {
  const to = new URL(request.url ?? '', 'http://own').searchParams.get('to') ?? '';
  // Header values are sent as latin1.
  response.writeHead(302, { location: Buffer.from(to).toString('latin1') }).end();
});

async function refusalOf(url: string, options: GuardedFetchOptions = {}): Promise<unknown> {
  const dialled: Target[] = [];
  const dial = (target: Target) => {
    if (target.url.origin === redirecting.origin) return connect(redirecting.port, '127.0.0.1');
    dialled.push(target);
    return canary.dial();
  };
  const before = canary.hits.length;
  const lookup = async () => [];
  const outcome = createGuardedFetch({ dial, lookup, ...options })(url);
  const error = await outcome.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect([dialled, canary.hits.length], `${url} reached the canary`).toEqual([[], before]);
  return error;
}

const refusedFor = (reason: string): object =>
  expect.objectContaining({ code: 'FETCH_REFUSED', data: expect.objectContaining({ reason }) });

/** One answer per lookup, as the DNS server of an attacker may give. */
function answering(...answers: readonly string[][]) {
  let asked = 0;
  const lookup = async () => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { lookup, asked: () => asked };
}

it('control: an allowed request reaches the canary', async () => {
  const before = canary.hits.length;
  const origin = 'http://10.0.0.1:1234';
  const fetch = createGuardedFetch({ dial: canary.dial, allowedOrigins: [origin] });
  await expect(fetch(origin)).rejects.toThrow(TypeError);
  expect(canary.hits.length).toBe(before + 1);
});

describe.each(INSIDE)('%s', (host) => {
  it('is not fetched directly', async () => {
    expect(await refusalOf(`https://${host}:${canary.port}/`)).toEqual(refusedFor('address'));
  });

  it('is not fetched by plain http', async () => {
    expect(await refusalOf(`http://${host}:${canary.port}/`)).toEqual(refusedFor('scheme'));
  });

  it.each(['https', 'http'])('is not fetched by a redirect to %s', async (scheme) => {
    const to = encodeURIComponent(`${scheme}://${host}:${canary.port}/`);
    const options = { allowedOrigins: [redirecting.origin] };
    const error = await refusalOf(`${redirecting.origin}/?to=${to}`, options);
    expect(error).toEqual(refusedFor(scheme === 'https' ? 'address' : 'scheme'));
  });
});

describe.each(INSIDE_ANSWERS)('a name that resolves to %s', (address) => {
  it('is not fetched', async () => {
    const { lookup } = answering([address]);
    expect(await refusalOf('https://name.example/', { lookup })).toEqual(refusedFor('address'));
  });

  it.each(['.local', '.internal', '.'])('is not fetched with the ending %s', async (ending) => {
    const { lookup } = answering([address]);
    expect(await refusalOf(`https://name${ending}/`, { lookup })).toEqual(refusedFor('address'));
  });

  it('is not fetched even if it has public addresses too', async () => {
    const { lookup } = answering([PUBLIC_ADDRESS, '2606:4700::1111', address]);
    expect(await refusalOf('https://name.example/', { lookup })).toEqual(refusedFor('address'));
  });

  it('is not fetched by a redirect to the name', async () => {
    const { lookup } = answering([address]);
    const url = `${redirecting.origin}/?to=${encodeURIComponent('https://name.example/')}`;
    const error = await refusalOf(url, { lookup, allowedOrigins: [redirecting.origin] });
    expect(error).toEqual(refusedFor('address'));
  });

  it('is not looked up again after it resolved to a public address', async () => {
    const { lookup, asked } = answering([PUBLIC_ADDRESS], [address]);
    const dialled: Target[] = [];
    const dial = (target: Target) => {
      dialled.push(target);
      return canary.dial();
    };
    const fetch = createGuardedFetch({ lookup, dial });
    // The socket of this test leads to another address: the guard notices that before a byte is sent.
    await expect(fetch('https://name.example/')).rejects.toEqual(refusedFor('address'));
    expect(asked()).toBe(1);
    expect(dialled.map((target) => target.addresses)).toEqual([[{ address: PUBLIC_ADDRESS, family: 4 }]]);
  });
});

it('connects to the address that was checked, whatever the name means later', async () => {
  const later = await startCanary('127.0.0.2');
  const sooner = await startServer((_request, response) => response.end('sooner'));
  const { lookup, asked } = answering(['127.0.0.1'], ['127.0.0.2']);
  const origin = `http://name.example:${sooner.port}`;
  const response = await createGuardedFetch({ lookup, allowedOrigins: [origin] })(origin);
  expect(await response.text()).toBe('sooner');
  expect(sooner.requests[0]?.headers.host).toBe(`name.example:${sooner.port}`);
  expect([asked(), later.hits.length]).toEqual([1, 0]);
});

it('sends nothing over a connection that leads elsewhere', async () => {
  const elsewhere = await startCanary();
  const closed: Promise<unknown>[] = [];
  const dial = () => {
    const socket = elsewhere.dial();
    closed.push(once(socket, 'close'));
    return socket;
  };
  const fetch = createGuardedFetch({ lookup: answering([PUBLIC_ADDRESS]).lookup, dial });
  await expect(fetch('https://name.example/')).rejects.toEqual(refusedFor('address'));
  await Promise.all(closed);
  expect([elsewhere.hits.length, elsewhere.bytes()]).toEqual([1, 0]);
});

it.each([
  'https://user@example.com/',
  'https://user:secret@example.com/',
  'https://:secret@example.com/',
  'https://example.com@127.0.0.1/',
])('a URL with credentials is not fetched: %s', async (url) => {
  const error = await refusalOf(url);
  expect(error).toEqual(refusedFor('credentials'));
  expect(JSON.stringify(error)).not.toContain('secret');
});

it.each([
  'ftp://example.com/',
  'file:///etc/passwd',
  'data:application/json,{}',
  'javascript:alert(1)',
  'ws://example.com/',
  'blob:https://example.com/1',
])('a URL with another scheme is not fetched: %s', async (url) => {
  expect(await refusalOf(url)).toEqual(refusedFor('scheme'));
});

it.each([
  '',
  'example.com',
  '//example.com',
  'https://',
  'https://a\0b/',
  'https://[::1%25lo]/',
  'https://1.2.3.256/',
])('an invalid URL is not fetched: %j', async (url) => {
  expect(await refusalOf(url)).toEqual(refusedFor('url'));
});

it('a refusal shows neither query nor fragment', async () => {
  const error = await refusalOf('https://127.0.0.1/path?code=secret#secret');
  expect(error).toMatchObject({ data: { url: 'https://127.0.0.1/path' } });
  expect(JSON.stringify(error)).not.toContain('secret');
});
