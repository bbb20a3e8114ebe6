/** The option `origins`: a fetch that is limited to configured origins reaches no other, whatever it is asked or told. */
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createGuardedFetch, type GuardedFetchOptions } from '../../src/fetching/guarded-fetch.js';
import { parseUrl } from '../../src/fetching/parse-url.js';
import type { Target } from '../../src/fetching/target.js';
import { startCanary, startServer } from './canary.js';

const other = await startCanary();
const server = await startServer((request, response) => {
  const to = new URL(request.url ?? '', 'http://own').searchParams.get('to');
  if (to === null) response.end('registry');
  // Header values are sent as latin1.
  else response.writeHead(302, { location: Buffer.from(to).toString('latin1') }).end();
});

const REGISTRY = 'https://registry.example';
const lookup = async () => [{ address: '93.184.216.34', family: 4 }];

interface Outcome {
  readonly reason?: string | undefined;
  readonly message?: string;
  readonly hint?: string | undefined;
  /** The hosts that a connection was opened to, other than the server that redirects. */
  readonly dialled: readonly string[];
}

/** What the fetch does. Connections elsewhere lead to a canary that answers nothing. */
async function outcomeOf(url: string, options: GuardedFetchOptions): Promise<Outcome> {
  const dialled: string[] = [];
  const dial = ({ hostname, url: { origin } }: Target) => {
    if (origin === server.origin) return connect(server.port, '127.0.0.1');
    dialled.push(hostname);
    return other.dial();
  };
  const error = await createGuardedFetch({ dial, lookup, ...options })(url).then(
    () => undefined,
    (thrown: Error & { data?: { reason?: string }; hint?: string }) => thrown,
  );
  return { reason: error?.data?.reason, message: error?.message ?? '', hint: error?.hint, dialled };
}

const ELSEWHERE: ReadonlyArray<readonly [what: string, url: string, reason: string]> = [
  ['another host', 'https://evil.example/v0.1/servers', 'origin'],
  ['a subdomain', 'https://a.registry.example/', 'origin'],
  ['the parent domain', 'https://example/', 'origin'],
  ['a longer name', 'https://registry.example.evil.example/', 'origin'],
  ['another port', 'https://registry.example:8443/', 'origin'],
  ['the port of plain http', 'https://registry.example:80/', 'origin'],
  ['plain http', 'http://registry.example/', 'origin'],
  ['plain http on the port of https', 'http://registry.example:443/', 'origin'],
  ['a trailing dot', 'https://registry.example./', 'origin'],
  ['the host as a user name', 'https://registry.example@evil.example/', 'origin'],
  ['the host as user name and password', 'https://registry.example:443@evil.example/', 'origin'],
  ['the host behind a backslash', 'https://evil.example\\@registry.example/', 'origin'],
  ['the host in the path', 'https://evil.example/https://registry.example', 'origin'],
  ['the host in the fragment', 'https://evil.example#@registry.example', 'origin'],
  ['a user name at the right host', 'https://user@registry.example/', 'credentials'],
  ['a letter of another script', 'https://rеgistry.example/', 'origin'],
  ['the written form of that letter', 'https://xn--rgistry-3of.example/', 'origin'],
  ['a tab in the host of another', 'https://evil\t.example/', 'origin'],
  ['an address', 'https://93.184.216.34/', 'origin'],
  ['no host', 'file://registry.example/etc/passwd', 'scheme'],
  ['no origin at all', 'data:application/json,{}', 'scheme'],
];

describe.each(ELSEWHERE)('a fetch that is limited to one origin does not reach %s', (_what, url, reason) => {
  it('by a request', async () => {
    expect(await outcomeOf(url, { origins: [REGISTRY] })).toMatchObject({ reason, dialled: [] });
  });

  it('by a redirect', async () => {
    const options = { origins: [server.origin, REGISTRY], allowedOrigins: [server.origin] };
    const outcome = await outcomeOf(`${server.origin}/?to=${encodeURIComponent(url)}`, options);
    expect(outcome).toMatchObject({ reason, dialled: [] });
  });
});

it.each([
  ['capital letters', 'HTTPS://REGISTRY.EXAMPLE/'],
  ['its own port', 'https://registry.example:443/'],
  ['leading zeros of the port', 'https://registry.example:00443/'],
  ['full-width letters, which are the same name', 'https://ｒegistry.example/'],
  ['the ideographic full stop', 'https://registry。example/'],
  ['spaces around it', ' https://registry.example/ '],
])('the same origin, written with %s, is reached', async (_what, url) => {
  expect((await outcomeOf(url, { origins: [REGISTRY] })).dialled).toEqual(['registry.example']);
});

it.each([
  ['[::1]', 'http://[::1]:9', true],
  ['[0:0:0:0:0:0:0:1]', 'http://[::1]:9', true],
  ['[0000::0001]', 'http://[::1]:9', true],
  ['[::0.0.0.1]', 'http://[::1]:9', true],
  ['[::ffff:127.0.0.1]', 'http://127.0.0.1:9', false],
  ['[::ffff:7f00:1]', 'http://127.0.0.1:9', false],
  ['2130706433', 'http://127.0.0.1:9', true],
  ['0x7f.1', 'http://127.0.0.1:9', true],
  ['localhost', 'http://127.0.0.1:9', false],
  ['127.0.0.1', 'http://[::1]:9', false],
])('%s is compared with %s by its meaning: %s', async (host, origin, isSame) => {
  const { reason, dialled } = await outcomeOf(`http://${host}:9/`, {
    origins: [origin],
    allowedOrigins: [origin],
  });
  expect(reason === 'origin').toBe(!isSame);
  expect(dialled.length > 0).toBe(isSame);
});

it('an internationalized name is the same in both of its forms', async () => {
  const options = { origins: ['https://bücher.example'] };
  const dialled = ['xn--bcher-kva.example'];
  expect(await outcomeOf('https://xn--bcher-kva.example/', options)).toMatchObject({ dialled });
  expect(await outcomeOf('https://BÜCHER.example/', options)).toMatchObject({ dialled });
  expect((await outcomeOf('https://bucher.example/', options)).reason).toBe('origin');
});

it('says which origin it was, and how to allow it', async () => {
  const { message, hint } = await outcomeOf('https://evil.example:8443/a?token=1', { origins: [REGISTRY] });
  expect(message).toBe(
    'https://evil.example:8443/a was not fetched because its origin https://evil.example:8443 is not one of the configured origins.',
  );
  expect(hint).toBe(
    'Configured: https://registry.example. If you trust https://evil.example:8443, add it to your own configuration.',
  );
});

it('no origin means none, and a list opens no internal address', async () => {
  expect(await outcomeOf(REGISTRY, { origins: [] })).toMatchObject({ reason: 'origin', dialled: [] });
  expect(await outcomeOf('https://127.0.0.1/', { origins: ['https://127.0.0.1'] })).toMatchObject({
    reason: 'address',
    dialled: [],
  });
});

it('reaches a configured origin, and follows its redirects', async () => {
  const fetch = createGuardedFetch({ origins: [`${server.origin}/v0.1`], allowedOrigins: [server.origin] });
  const response = await fetch(`${server.origin}/?to=/next`);
  expect([await response.text(), response.redirected]).toEqual(['registry', true]);
});

it.each(['registry.example', '', 'file:///registry', 'data:,x'])('"%s" is no origin', (origin) => {
  expect(() => createGuardedFetch({ origins: [origin] })).toThrow(TypeError);
});

it('an internationalized name can be parsed, however often one was parsed before', async () => {
  for (let count = 0; count < 20_000; count += 1) parseUrl('https://BÜCHER.example/');
  expect(parseUrl('https://BÜCHER.example/')?.hostname).toBe('xn--bcher-kva.example');
});
