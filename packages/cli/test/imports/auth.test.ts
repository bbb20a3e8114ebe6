// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
/** Sign-ins in the files of other tools: what is taken over, what is left, and what is never shown. */
import { describe, expect, it } from 'vitest';
import { readClientConfig, writeClientConfig } from '../../src/imports/index.js';

const URL = 'https://x.example.com/mcp';

const read = (client: string, entry: object) => {
  const { servers, skipped } = readClientConfig(client, JSON.stringify({ mcpServers: { x: entry } }));
  return { config: servers[0]?.config, notes: servers[0]?.notes.join('; ') ?? '', skipped };
};

const write = (client: string, config: Readonly<Record<string, unknown>>) => {
  const { text = '', notes } = writeClientConfig(client, undefined, [{ name: 'x', config }]);
  return { text, notes: notes.map(({ note }) => note).join('; ') };
};

// requirement F2
describe('importing a sign-in', () => {
  it('leaves it when a header already authenticates, because Turnbuckle would ask somebody to sign in', () => {
    const headers = { authorization: 'Bearer ${TOKEN}' };
    const { config, notes } = read('claude-code', {
      type: 'http',
      url: URL,
      headers,
      oauth: { clientId: 'a' },
    });
    expect(config).toEqual({ type: 'http', url: URL, headers });
    expect(notes).toContain('not imported: oauth.clientId (sign-in)');
  });

  it.each<[string, object, string]>([
    ['a client id that is too long', { clientId: 'x'.repeat(1_025) }, 'oauth.clientId'],
    ['a client id that is not a text', { clientId: { secret: 'hidden' } }, 'oauth.clientId'],
    ['an address of another scheme', { tokenUrl: 'javascript:hidden' }, 'oauth.tokenUrl'],
    ['a redirect to another machine', { redirectUri: 'https://hidden.example.com/cb' }, 'oauth.redirectUri'],
    [
      'a redirect to a name that only begins well',
      { redirectUri: 'http://localhost.hidden.example/' },
      'oauth.redirectUri',
    ],
    ['too many scopes', { scopes: Array.from({ length: 201 }, () => 'hidden') }, 'oauth.scopes'],
    ['scopes that are not texts', { scopes: [{ hidden: 1 }] }, 'oauth.scopes'],
  ])('names %s and leaves it', (_, oauth, key) => {
    const { config, notes, skipped } = read('gemini', { httpUrl: URL, oauth });
    expect(skipped).toEqual([]);
    expect(config).toEqual({ type: 'http', url: URL });
    expect(notes).toContain(`not imported: ${key} (sign-in)`);
    expect(notes).not.toContain('hidden');
  });

  it.each([0, 65_536, 1.5, '3118'])('does not take %j for a port', (callbackPort) => {
    const { config, notes } = read('claude-code', { type: 'http', url: URL, oauth: { callbackPort } });
    expect(config?.auth).toBeUndefined();
    expect(notes).toContain('oauth.callbackPort');
  });

  it('leaves a server whose secret only the other tool can resolve', () => {
    const text = JSON.stringify({
      mcp: { x: { type: 'remote', url: URL, oauth: { clientSecret: '{file:~/s}' } } },
    });
    expect(readClientConfig('opencode', text).skipped[0]?.reason).toContain('{file:~/s}');
  });

  it('has no meaning for a local server', () => {
    const { config, notes } = read('claude-code', { command: 'node', oauth: { clientId: 'a' } });
    expect(config).toEqual({ type: 'stdio', command: 'node' });
    expect(notes).toContain('oauth.clientId');
  });

  it('reads the usual shapes in the file of an unknown tool', () => {
    const auth = { CLIENT_ID: 'a', CLIENT_SECRET: '${env:S}', scopes: ['r'] };
    expect(read('generic', { url: URL, auth }).config?.auth).toEqual({
      type: 'oauth',
      clientId: 'a',
      clientSecret: '${S}',
      scopes: ['r'],
    });
    const ours = { type: 'oauth', clientId: 'a', issuer: 'https://login.example.com' };
    expect(read('generic', { url: URL, auth: ours })).toMatchObject({ config: { auth: ours }, notes: '' });
  });

  it('keeps the sandbox of a VS Code file that is imported by its path', () => {
    const text = JSON.stringify({
      servers: { x: { command: 'node', sandboxEnabled: true } },
      sandbox: {
        filesystem: { allowWrite: ['/out'], denyWrite: ['/out/x'] },
        network: 'none',
        more: {},
        other: 1,
      },
    });
    const [server] = readClientConfig('generic', text).servers;
    expect(server?.config.sandbox).toEqual({ write: ['/out'], network: false });
    expect(server?.notes.join()).toContain(
      'not imported: sandbox.filesystem.denyWrite, sandbox.network, sandbox.other (limits',
    );
  });
});

// requirement F2
describe('exporting a sign-in', () => {
  const auth = { type: 'oauth', clientId: 'a', clientSecret: '${secret:s}', scopes: ['r', 'w'] };

  it('never writes the value of a placeholder, and says when the other tool does not replace it', () => {
    for (const client of ['cursor', 'gemini', 'opencode', 'kiro', 'mcporter']) {
      const { text, notes } = write(client, { type: 'http', url: URL, auth });
      expect(text).toContain('${secret:s}');
      expect(notes).toContain('does not replace ${secret:s}');
    }
    expect(write('mcpproxy', { type: 'http', url: URL, auth })).toMatchObject({
      text: expect.stringContaining('"client_secret": "${keyring:s}"'),
      notes: '',
    });
  });

  it('names what the other tool has no place for, and does not put it elsewhere', () => {
    const { text, notes } = write('claude-code', { type: 'http', url: URL, auth });
    expect(JSON.parse(text).mcpServers.x.oauth).toEqual({ clientId: 'a', scopes: 'r w' });
    expect(notes).toBe('Claude Code does not support auth.clientSecret');
    expect(write('zed', { type: 'http', url: URL, auth }).notes).toBe(
      'Zed does not support auth.clientId, auth.clientSecret, auth.scopes',
    );
  });

  it('writes the redirect URI as a port only where the rest is the same', () => {
    const redirect = (uri: string) =>
      write('claude-code', { type: 'http', url: URL, auth: { type: 'oauth', redirectUri: uri } });
    expect(JSON.parse(redirect('http://localhost:3118/callback').text).mcpServers.x.oauth).toEqual({
      callbackPort: 3118,
    });
    for (const uri of [
      'http://127.0.0.1:3118/callback',
      'http://localhost:3118/other',
      'http://localhost/callback',
    ])
      expect(redirect(uri).notes).toBe('Claude Code does not support auth.redirectUri');
  });
});
