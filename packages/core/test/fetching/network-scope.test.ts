import { expect, it } from 'vitest';
import { createGuardedFetch, type GuardOptions } from '../../src/fetching/guarded-fetch.js';
import { isWithin } from '../../src/fetching/reach.js';
import { startCanary, startServer } from './canary.js';

const server = await startServer((_request, response) => response.end('server'));
const beside = await startServer((_request, response) => response.end('beside'));
const away = await startCanary();

async function fetched(url: string, options: GuardOptions): Promise<string> {
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
  const fetch = createGuardedFetch({ lookup, ...options });
  return fetch(url).then(
    (response) => response.text(),
    (error: { code?: string; data?: { reason?: string } }) => error.data?.reason ?? String(error),
  );
}

const besideAllowed = { allowedOrigins: [server.origin], insideIfServerInside: 'loopback' } as const;
/** For addresses that are not on this machine: without the guard they would lead to the canary. */
const farAllowed = { ...besideAllowed, dial: away.dial };

it.each<[what: string, url: string, options: GuardOptions, outcome: string]>([
  ['nothing is allowed', server.origin, {}, 'scheme'],
  ['the origin is allowed', server.origin, { allowedOrigins: [server.origin] }, 'server'],
  ['a path of it is named', `${server.origin}/a?b`, { allowedOrigins: [`${server.origin}/mcp`] }, 'server'],
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
    'the name is allowed and leads inside',
    `http://server.example:${server.port}`,
    { allowedOrigins: [`http://server.example:${server.port}`] },
    'server',
  ],
  ['it runs beside an allowed one', beside.origin, besideAllowed, 'beside'],
  ['it runs beside, as localhost', `http://localhost:${beside.port}`, besideAllowed, 'beside'],
  ['it runs beside, below localhost', `http://auth.localhost:${beside.port}`, besideAllowed, 'beside'],
  ['it runs beside, mapped', `http://[::ffff:127.0.0.1]:${beside.port}`, besideAllowed, 'beside'],
  ['a name from outside leads beside', `https://auth.example:${away.port}`, besideAllowed, 'address'],
  ['a name from outside leads beside, http', `http://auth.example:${away.port}`, besideAllowed, 'scheme'],
  ['private beside loopback', `http://10.0.0.1:${away.port}`, farAllowed, 'scheme'],
  ['private beside loopback, https', `https://10.0.0.1:${away.port}`, farAllowed, 'address'],
  ['link-local beside loopback', `https://169.254.169.254:${away.port}`, farAllowed, 'address'],
  ['"this host" beside loopback', `https://0.0.0.0:${away.port}`, farAllowed, 'address'],
  [
    'the option, but the server is not on this machine',
    beside.origin,
    { allowedOrigins: ['http://10.0.0.1', 'https://example.com'], insideIfServerInside: 'loopback' },
    'scheme',
  ],
  [
    'the option, but only the name of the server leads here',
    `https://127.0.0.1:${away.port}`,
    { allowedOrigins: ['https://server.example'], insideIfServerInside: 'loopback' },
    'address',
  ],
  ['the option alone', beside.origin, { insideIfServerInside: 'loopback' }, 'scheme'],
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
  expect(classes.filter((found) => isWithin(reach, found))).toEqual(expected);
});

it('localhost is this machine, whatever a resolver says', async () => {
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

it('does not use proxies of the environment', async () => {
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

it('an allowed origin that is no address is a mistake of the caller', () => {
  expect(() => createGuardedFetch({ allowedOrigins: ['localhost'] })).toThrow(TypeError);
});
