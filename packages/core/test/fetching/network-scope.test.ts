import { expect, it } from 'vitest';
import { createGuardedFetch, type GuardedFetchOptions } from '../../src/fetching/guarded-fetch.js';
import { isInScope } from '../../src/fetching/network-scope.js';
import { startCanary, startServer } from './canary.js';

const server = await startServer((_request, response) => response.end('server'));
const beside = await startServer((_request, response) => response.end('beside'));
const away = await startCanary();

async function fetched(url: string, options: GuardedFetchOptions): Promise<string> {
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
  const fetch = createGuardedFetch({ lookup, ...options });
  return fetch(url).then(
    (response) => response.text(),
    (error: { code?: string; data?: { reason?: string } }) => error.data?.reason ?? String(error),
  );
}

const besideAllowed = { allowedOrigins: [server.origin], localServerMayReach: 'loopback' } as const;
/** For addresses of other machines: without the guard, a connection to them would lead to the canary. */
const farAllowed = { ...besideAllowed, dial: away.dial };

it.each<[what: string, url: string, options: GuardedFetchOptions, outcome: string]>([
  ['nothing is allowed', server.origin, {}, 'scheme'],
  ['the origin is allowed', server.origin, { allowedOrigins: [server.origin] }, 'server'],
  [
    'the allowed origin has a path',
    `${server.origin}/a?b`,
    { allowedOrigins: [`${server.origin}/mcp`] },
    'server',
  ],
  ['another port is allowed', beside.origin, { allowedOrigins: [server.origin] }, 'scheme'],
  [
    'another scheme is allowed',
    server.origin,
    { allowedOrigins: [server.origin.replace('http', 'https')] },
    'scheme',
  ],
  [
    'another spelling of the host is allowed',
    `http://localhost:${server.port}`,
    { allowedOrigins: [server.origin] },
    'scheme',
  ],
  [
    'the name is allowed and resolves to an internal address',
    `http://server.example:${server.port}`,
    { allowedOrigins: [`http://server.example:${server.port}`] },
    'server',
  ],
  ['another port on this machine, by address', beside.origin, besideAllowed, 'beside'],
  ['another port on this machine, as localhost', `http://localhost:${beside.port}`, besideAllowed, 'beside'],
  [
    'another port on this machine, as a subdomain of localhost',
    `http://auth.localhost:${beside.port}`,
    besideAllowed,
    'beside',
  ],
  [
    'another port on this machine, as a mapped address',
    `http://[::ffff:127.0.0.1]:${beside.port}`,
    besideAllowed,
    'beside',
  ],
  ['a public name resolves to this machine', `https://auth.example:${away.port}`, besideAllowed, 'address'],
  [
    'a public name resolves to this machine, http',
    `http://auth.example:${away.port}`,
    besideAllowed,
    'scheme',
  ],
  ['private, with loopback allowed', `http://10.0.0.1:${away.port}`, farAllowed, 'scheme'],
  ['private, with loopback allowed, https', `https://10.0.0.1:${away.port}`, farAllowed, 'address'],
  ['link-local, with loopback allowed', `https://169.254.169.254:${away.port}`, farAllowed, 'address'],
  ['"this host", with loopback allowed', `https://0.0.0.0:${away.port}`, farAllowed, 'address'],
  [
    'the option, but the server is not on this machine',
    beside.origin,
    { allowedOrigins: ['http://10.0.0.1', 'https://example.com'], localServerMayReach: 'loopback' },
    'scheme',
  ],
  [
    'the option, but only the name of the server resolves to this machine',
    `https://127.0.0.1:${away.port}`,
    { allowedOrigins: ['https://server.example'], localServerMayReach: 'loopback' },
    'address',
  ],
  ['the option alone', beside.origin, { localServerMayReach: 'loopback' }, 'scheme'],
])('%s', async (_what, url, options, outcome) => {
  expect(await fetched(url, options)).toBe(outcome);
  expect(away.hits.length).toBe(0);
});

it.each([
  ['public', ['public']],
  ['loopback', ['loopback']],
  ['anywhere', ['public', 'loopback', 'private', 'link-local', 'multicast', 'reserved']],
] as const)('%s reaches only %j', (reach, expected) => {
  const classes = [
    'public',
    'loopback',
    'private',
    'link-local',
    'multicast',
    'reserved',
    'invalid',
  ] as const;
  expect(classes.filter((found) => isInScope(reach, found))).toEqual(expected);
});

it('localhost is this machine, without a lookup', async () => {
  const lookup = async () => {
    throw new Error('was asked');
  };
  const origin = `http://localhost:${server.port}`;
  expect(await fetched(origin, { lookup, allowedOrigins: [origin] })).toBe('server');
});

it('reaches a localhost that listens on IPv6 only', async () => {
  const six = await startServer((_request, response) => response.end('six'), '::1');
  const origin = `http://localhost:${six.port}`;
  expect(await fetched(origin, { allowedOrigins: [origin] })).toBe('six');
});

it('does not use proxies from the environment', async () => {
  const proxy = await startCanary();
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY'];
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
  try {
    expect(await fetched(server.origin, { allowedOrigins: [server.origin] })).toBe('server');
  } finally {
    for (const [index, name] of names.entries()) {
      const value = before[index];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  expect(proxy.hits.length).toBe(0);
});

it('an allowed origin that is not a URL throws a TypeError', () => {
  expect(() => createGuardedFetch({ allowedOrigins: ['localhost'] })).toThrow(TypeError);
});
