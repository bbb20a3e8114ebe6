import { altered, callbackIssuer, visit } from '@turnbuckle/testing/authorization-server';
import { describe, expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

const PAGES = [
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'file:///etc/passwd',
  'ms-msdt:/id PCWDiagnostic',
  'a:$(calc.exe)',
  'smb://attacker.example/share',
  'http://attacker.example/authorize',
  'https://user:password@attacker.example/authorize',
  '--config=/etc/passwd',
  'ssh://-oProxyCommand=calc/x',
  'chrome://settings',
];

describe('S19: what is handed to a browser', () => {
  it.each(PAGES)('is not %s', async (page) => {
    const { authorization, open, pages, prompts } = await setStage();
    authorization.faults.set(
      'metadata',
      altered((answer) => ({ ...answer, authorization_endpoint: page })),
    );
    const runtime = await open();
    await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(pages).toEqual([]);
    expect(authorization.requestLog.count('token')).toBe(0);
  });

  it.each(PAGES)('is not %s in the device flow either', async (page) => {
    const { authorization, open } = await setStage();
    authorization.faults.set(
      'device',
      altered((answer) => ({ ...answer, verification_uri: page, verification_uri_complete: page })),
    );
    const runtime = await open();
    const shown: string[] = [];
    const prompts = { open: () => {}, showCode: ({ url }: { url: string }) => void shown.push(url) };
    await expect(runtime.signIn('web', { method: 'device', prompts })).rejects.toMatchObject({
      code: 'AUTH_FAILED',
    });
    expect(shown).toEqual([]);
  });

  it('is not opened with control characters in the device code', async () => {
    const { authorization, open } = await setStage();
    authorization.faults.set(
      'device',
      altered((answer) => ({
        ...answer,
        user_code: 'AB\u001b[31mCD\u202eEF\n',
        expires_in: 0.2,
        interval: 0.1,
      })),
    );
    const runtime = await open();
    const shown: string[] = [];
    const prompts = { open: () => {}, showCode: ({ code }: { code: string }) => void shown.push(code) };
    await expect(runtime.signIn('web', { method: 'device', prompts })).rejects.toMatchObject({
      server: 'web',
    });
    expect(shown).toEqual(['AB[31mCDEF']);
  });
});

describe('S21: an authorization server is who it says', () => {
  it.each([
    ['another host', (issuer: string) => issuer.replace('127.0.0.1', 'localhost')],
    ['an extra slash', (issuer: string) => `${issuer}/`],
    ['an upper-case scheme', (issuer: string) => issuer.replace('http', 'HTTP')],
    ['an extra path', (issuer: string) => `${issuer}/tenant`],
  ])('metadata that names an issuer with %s is not used', async (_, other) => {
    const { authorization, open, prompts, pages } = await setStage();
    authorization.faults.set(
      'metadata',
      altered((answer) => ({ ...answer, issuer: other(authorization.issuer) })),
    );
    const runtime = await open();
    await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(pages).toEqual([]);
    expect([authorization.requestLog.count('register'), authorization.requestLog.count('token')]).toEqual([
      0, 0,
    ]);
  });

  it.each([
    ['another', 'https://attacker.example'],
    ['none', undefined],
  ])('a code that comes back from %s issuer is not exchanged', async (_, issuer) => {
    const { authorization, open, prompts } = await setStage();
    authorization.faults.set('authorize', callbackIssuer(issuer));
    const runtime = await open();
    await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(authorization.requestLog.count('token')).toBe(0);
  });

  it('an issuer that differs in its spelling is another issuer', async () => {
    const { authorization, open, prompts } = await setStage();
    authorization.faults.set('authorize', callbackIssuer(`${authorization.issuer}/`));
    const runtime = await open();
    await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(authorization.requestLog.count('token')).toBe(0);
  });

  it('the text of an error from another issuer is not repeated', async () => {
    const { authorization, open } = await setStage();
    authorization.person.consents = false;
    authorization.faults.set('authorize', callbackIssuer('https://attacker.example'));
    const runtime = await open();
    const prompts = { open: async ({ url }: { url: string }) => void (await visit(url)) };
    const error = await runtime.signIn('web', { prompts }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'AUTH_FAILED' });
    expect(String(error)).not.toContain('access_denied');
    expect(JSON.stringify(error)).not.toContain('access_denied');
  });

  it('a configured issuer is the only one accepted', async () => {
    const { authorization, open, prompts, pages } = await setStage();
    const runtime = await open({ type: 'oauth', issuer: 'https://login.example' });
    await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(pages).toEqual([]);
    expect(authorization.requestLog.count('register')).toBe(0);
    const right = await open({ type: 'oauth', issuer: authorization.issuer });
    expect(await right.signIn('web', { prompts })).toBe(true);
  });

  it.each(['https://other.example/mcp', 'not an address', 'file:///x'])(
    'metadata about another resource is not used: %s',
    async (resource) => {
      const { authorization, server, open, prompts, pages } = await setStage();
      server.metadata = { resource };
      const runtime = await open();
      await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ server: 'web' });
      expect(pages).toEqual([]);
      expect(authorization.requestLog.count('register')).toBe(0);
    },
  );

  it('no token is requested over plain HTTP', async () => {
    const { authorization, open, prompts } = await setStage();
    authorization.faults.set(
      'metadata',
      altered((answer) => ({ ...answer, token_endpoint: 'http://attacker.example/token' })),
    );
    const runtime = await open();
    await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });
});

describe('S22: without PKCE no page is opened', () => {
  it.each([
    ['is not offered', undefined],
    ['is offered as plain only', ['plain']],
    ['is offered as an empty list', []],
  ])('it %s', async (_, methods) => {
    const { authorization, open, prompts, pages } = await setStage();
    authorization.faults.set(
      'metadata',
      altered(({ code_challenge_methods_supported: _old, ...answer }) => ({
        ...answer,
        ...(methods !== undefined && { code_challenge_methods_supported: methods }),
      })),
    );
    const runtime = await open();
    await expect(runtime.signIn('web', { prompts })).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(pages).toEqual([]);
    expect(authorization.requestLog.count('authorize')).toBe(0);
  });
});

describe('an invalid challenge of a server', () => {
  it.each([
    ['characters that are invalid in a header', 'Bearer error="✓", scope="tools:read"'],
    ['half a challenge', 'Bearer resource_metadata="'],
    ['another scheme', 'Negotiate'],
    ['an invalid URL', 'Bearer resource_metadata="javascript:alert(1)"'],
    ['a very long value', `Bearer scope="${'x'.repeat(8_000)}"`],
  ])('with %s: the server still needs a sign-in', async (_, challenge) => {
    const { server, open } = await setStage();
    // As raw bytes: characters beyond Latin-1 are sent as UTF-8.
    server.guard.challenge = Buffer.from(challenge, 'utf8').toString('latin1');
    const runtime = await open();
    await runtime.connectAll();
    expect(runtime.serverStatus('web')).toMatchObject({ status: 'needs-auth' });
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  });

  it('characters that are invalid in a header, during a call', async () => {
    const { server, open, prompts } = await setStage();
    const runtime = await open();
    await runtime.signIn('web', { prompts });
    server.guard.closed = true;
    server.guard.challenge = Buffer.from('Bearer error="✓ \u{1f600}"', 'utf8').toString('latin1');
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  });
});
