import { freePort } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { signIn } from '../../src/auth/sign-in.js';
import { createSignInNetwork } from '../../src/auth/sign-in-network.js';
import type { OAuthConfig } from '../../src/config/schema/auth-schema.js';
import { readElicitation } from '../../src/connection/server-requests/read-request.js';
import { startCanary } from '../fetching/canary.js';

const canary = await startCanary();
const REMOTE = 'https://mcp.example';
const ADDRESSES: Readonly<Record<string, string>> = {
  'mcp.example': '93.184.215.14',
  'login.example': '93.184.215.15',
  // Public names that resolve to this machine or its network.
  'localtest.example': '127.0.0.1',
  'intranet.example': '10.1.2.3',
  'both.example': '93.184.215.14,127.0.0.1',
};
const lookup = async (name: string) =>
  (ADDRESSES[name] ?? '127.0.0.1').split(',').map((address) => ({ address, family: 4 }));

/** Everywhere that an authorization server or the server itself can name an address. */
const SPOTS = [
  'challenge',
  'resource metadata redirect',
  'authorization server',
  'metadata redirect',
  'registration endpoint',
  'registration redirect',
  'authorization endpoint',
  'token endpoint',
  'token redirect',
  'device endpoint',
  'device redirect',
  'verification uri',
  'complete verification uri',
] as const;

interface Hostile {
  readonly home: string;
  readonly spot: (typeof SPOTS)[number] | 'none';
  readonly target: string;
  readonly config?: Partial<OAuthConfig>;
}

/** The response of the server or its authorization server; undefined for a foreign URL. */
function answer(url: URL, { home, spot, target }: Hostile): Response | undefined {
  const say = (at: Hostile['spot'], own: string): string => (at === spot ? target : own);
  const reply = (at: string, body: object): Response =>
    spot === at
      ? new Response(null, { status: 307, headers: { location: target } })
      : Response.json(body, { status: 200 });
  if (url.origin !== home) return undefined;
  switch (url.pathname) {
    case '/.well-known/oauth-protected-resource/mcp':
      return reply('resource metadata redirect', {
        resource: `${home}/mcp`,
        authorization_servers: [say('authorization server', home)],
      });
    case '/.well-known/oauth-authorization-server':
      return reply('metadata redirect', {
        issuer: home,
        authorization_endpoint: say('authorization endpoint', `${home}/authorize`),
        token_endpoint: say('token endpoint', `${home}/token`),
        registration_endpoint: say('registration endpoint', `${home}/register`),
        device_authorization_endpoint: say('device endpoint', `${home}/device`),
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      });
    case '/register':
      return reply('registration redirect', { client_id: 'client', redirect_uris: [] });
    case '/device':
      return reply('device redirect', {
        device_code: 'd',
        user_code: 'u',
        interval: 0.01,
        verification_uri: say('verification uri', `${home}/code`),
        ...(spot === 'complete verification uri' && { verification_uri_complete: target }),
      });
    case '/token':
      return reply('token redirect', { access_token: 'token', token_type: 'Bearer' });
    default:
      return new Response(null, { status: 404 });
  }
}

/** One sign-in; the browser returns immediately. Reports the pages shown, and the outcome. */
async function attempt(hostile: Hostile) {
  const { home, spot, target } = hostile;
  const config: OAuthConfig = { type: 'oauth', ...hostile.config };
  const network = createSignInNetwork(`${home}/mcp`, config, { lookup, dial: canary.dial });
  const pages: string[] = [];
  const reached: string[] = [];
  const resourceMetadataUrl =
    spot === 'challenge' ? target : `${home}/.well-known/oauth-protected-resource/mcp`;
  const hitsBefore = canary.hits.length;
  const ended = await signIn({
    server: 'web',
    serverUrl: `${home}/mcp`,
    config,
    account: 'default',
    challenge: { resourceMetadataUrl },
    method: /device|verification/.test(spot) ? 'device' : 'browser',
    prompts: {
      async open({ url }) {
        pages.push(url);
        const { searchParams } = new URL(url);
        const back = new URL(searchParams.get('redirect_uri') ?? '');
        back.search = `${new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '' })}`;
        await fetch(back);
      },
      showCode: ({ url }) => void pages.push(url),
    },
    // Responses of these two servers come from here; every other URL goes through the guard.
    async fetch(url, init) {
      const at = new URL(url);
      const own = answer(at, hostile);
      const next = own?.headers.get('location') ?? (own === undefined ? at.href : undefined);
      if (next === undefined) return own as Response;
      reached.push(next);
      return network.fetch(next, init);
    },
    checkPage: network.checkPage,
    now: Date.now,
    signal: AbortSignal.timeout(20_000),
  }).then(
    () => 'signed in',
    (error: { code?: string }) => error.code ?? String(error),
  );
  return { pages, reached, ended, hits: canary.hits.slice(hitsBefore) };
}

const INSIDE = [
  'http://127.0.0.1:9999/x',
  'https://127.0.0.1/x',
  'http://localhost:9999/x',
  'https://localhost/x',
  'https://app.localhost/x',
  'https://[::1]:9999/x',
  'https://[::ffff:127.0.0.1]/x',
  'https://2130706433/x',
  'https://0.0.0.0/x',
  'https://10.0.0.1/x',
  'https://192.168.1.1/x',
  'https://169.254.169.254/latest/meta-data/',
  'https://[fd00::1]/x',
  'https://[fe80::1]/x',
  'https://localtest.example/x',
  'https://intranet.example/x',
  'https://both.example/x',
];

describe('no text of a remote server opens or requests a page of this machine or its network', () => {
  it.each(
    SPOTS.flatMap(
      (spot) =>
        [
          [spot, 'no redirect address'],
          [spot, 'one of its own'],
        ] as const,
    ),
  )('%s, with %s', async (spot, redirect) => {
    for (const target of INSIDE) {
      const config =
        redirect === 'one of its own' ? { redirectUri: `http://127.0.0.1:${await freePort()}/back` } : {};
      const { pages, reached, ended, hits } = await attempt({ home: REMOTE, spot, target, config });
      expect({ target, pages: pages.filter((page) => !page.startsWith(REMOTE)), hits }).toEqual({
        target,
        pages: [],
        hits: [],
      });
      // Without usable resource metadata, the server is its own authorization server.
      const isHarmless = /^(challenge|resource metadata)/.test(spot);
      expect(['AUTH_FAILED', 'FETCH_REFUSED', ...(isHarmless ? ['signed in'] : [])]).toContain(ended);
      // Pages and plain HTTP are refused before any request is sent.
      const isRequested = !/authorization endpoint|verification/.test(spot) && target.startsWith('https:');
      if (isRequested) expect(reached).not.toEqual([]);
    }
  });

  it('a legitimate sign-in succeeds', async () => {
    const { pages, ended } = await attempt({ home: REMOTE, spot: 'none', target: '' });
    expect(ended).toBe('signed in');
    expect(pages).toEqual([expect.stringMatching(/^https:\/\/mcp\.example\/authorize\?/)]);
  });

  it('a page of another remote server is shown', async () => {
    const target = 'https://login.example/authorize';
    const { pages } = await attempt({ home: REMOTE, spot: 'authorization endpoint', target });
    expect(pages).toEqual([expect.stringMatching(/^https:\/\/login\.example\/authorize\?/)]);
  });
});

describe('pages of this machine are shown', () => {
  it.each(['http://127.0.0.1:8080', 'http://localhost:8080'])('next to a server at %s', async (home) => {
    const target = 'http://127.0.0.1:9999/authorize';
    const { pages } = await attempt({ home, spot: 'authorization endpoint', target });
    expect(pages).toEqual([expect.stringContaining(target)]);
  });

  it('of an authorization server that the configuration names', async () => {
    const config = {
      tokenUrl: 'http://127.0.0.1:9999/token',
      authUrl: 'http://127.0.0.1:9999/authorize',
      clientId: 'us',
    };
    const { pages } = await attempt({ home: REMOTE, spot: 'none', target: '', config });
    expect(pages).toEqual([expect.stringContaining(config.authUrl)]);
  });

  it('but not pages of its network', async () => {
    const target = 'https://10.0.0.1/authorize';
    const { pages, ended } = await attempt({
      home: 'http://127.0.0.1:8080',
      spot: 'authorization endpoint',
      target,
    });
    expect([pages, ended]).toEqual([[], 'AUTH_FAILED']);
  });
});

describe('a page that a server asks the user to visit', () => {
  const LITERAL = INSIDE.filter((url) => !url.includes('.example') && url.startsWith('https:'));
  const ask = (url: string, from: string | undefined) =>
    readElicitation({ mode: 'url', message: 'Pay', url, elicitationId: 'x' }, from);

  it.each(LITERAL)('is not %s for a remote server', (url) => {
    for (const from of ['https://mcp.example/mcp', 'wss://mcp.example', '${MY_SERVER}'])
      expect(ask(url, from)).toEqual(expect.stringContaining('this machine'));
  });

  it('may be on this machine for a local server, and on its own host for any server', () => {
    for (const from of [undefined, 'http://127.0.0.1:8080/mcp', 'ws://localhost'])
      expect(ask('http://localhost:3000/x', from)).toMatchObject({ mode: 'url' });
    expect(ask('https://10.0.0.1:8443/pay', 'https://10.0.0.1/mcp')).toMatchObject({ mode: 'url' });
    expect(ask('https://10.0.0.2/pay', 'https://10.0.0.1/mcp')).toEqual(expect.any(String));
  });
});
