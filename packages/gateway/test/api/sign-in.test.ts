import { waitUntil } from '@turnbuckle/testing';
import {
  type AuthorizationServer,
  altered,
  startAuthorizationServer,
  startProtectedServer,
  visit,
} from '@turnbuckle/testing/authorization-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStage, type Stage } from './api-stage.js';

async function openProtected(): Promise<Stage & { readonly authorization: AuthorizationServer }> {
  const authorizationServer = await startAuthorizationServer({});
  onTestFinished(() => authorizationServer.stop());
  const server = await startProtectedServer({ authorizationServer, scope: 'tools:read' });
  onTestFinished(() => server.stop());
  const stage = await openStage({
    file: JSON.stringify({ servers: { web: { type: 'http', url: server.url, start: 'lazy' } } }),
  });
  return { ...stage, authorization: authorizationServer };
}

const PATH = '/api/servers/web/sign-in';

describe('signing in to a server', () => {
  it('returns the URL, and is done when the person has signed in', async () => {
    const { ask, runtime } = await openProtected();
    expect((await ask('GET', PATH)).body).toMatchObject({ signedIn: false });
    const begun = await ask('POST', PATH);
    expect(begun.body).toMatchObject({
      state: 'waiting',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1/),
    });
    // A second request gets the same page: there is one sign-in.
    expect((await ask('POST', PATH)).body).toEqual(begun.body);
    const meanwhile = await ask('GET', PATH);
    expect(meanwhile.body).toMatchObject({ signedIn: false, waitingSince: expect.any(String) });
    expect(meanwhile.text).not.toContain('state=');
    await visit(String(begun.body.url));
    await waitUntil(async () => (await ask('GET', PATH)).body.signedIn === true);
    await waitUntil(() => runtime.serverStatus('web').status === 'connected');
    await waitUntil(async () => (await ask('GET', PATH)).body.waitingSince === undefined);
    expect((await ask('POST', PATH)).body).toEqual({ state: 'done' });
    expect((await ask('DELETE', PATH)).body).toEqual({ cancelled: false, found: true, revoked: true });
    expect((await ask('GET', PATH)).body).toMatchObject({ signedIn: false });
  });

  it('is given up when the token of who began it ends, and goes on when another one does', async () => {
    const { ask, token, tokens } = await openProtected();
    const [mine, other] = [await token(['read', 'admin']), await token(['read', 'admin'])];
    const begun = await ask('POST', PATH, { token: mine });
    expect((await ask('POST', PATH, { token: other })).body).toEqual(begun.body);
    await tokens.revoke('made-2');
    expect((await ask('GET', PATH)).body.waitingSince).toEqual(expect.any(String));
    await tokens.revoke('made-1');
    await waitUntil(async () => (await ask('GET', PATH)).body.waitingSince === undefined);
    // Nothing receives the redirect of the browser.
    await visit(String(begun.body.url)).catch(() => {});
    expect((await ask('GET', PATH)).body).toMatchObject({
      signedIn: false,
      failure: { code: 'CALL_CANCELLED' },
    });
  });

  it('accepts the redirect URL of a browser on another machine', async () => {
    const { ask } = await openProtected();
    const begun = await ask('POST', PATH, { body: { method: 'paste' } });
    const until = new URL(String(begun.body.url)).searchParams.get('redirect_uri') ?? '';
    const { url } = await visit(String(begun.body.url), { until });
    expect((await ask('POST', PATH, { body: { address: url } })).body).toEqual({ state: 'waiting' });
    await waitUntil(async () => (await ask('GET', PATH)).body.signedIn === true);
  });

  describe('with a device code', () => {
    const BY_CODE = { body: { method: 'device' } };

    async function openDevice(): Promise<Awaited<ReturnType<typeof openProtected>>> {
      const opened = await openProtected();
      opened.authorization.faults.set(
        'device',
        altered((answer) => ({ ...answer, interval: 0.05 })),
      );
      return opened;
    }

    it('returns URL and code, and is done when the person has signed in', async () => {
      const { ask, runtime, authorization } = await openDevice();
      const begun = await ask('POST', PATH, BY_CODE);
      expect(begun.body).toMatchObject({
        state: 'waiting',
        url: expect.stringContaining(authorization.issuer),
        code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      });
      // Polled meanwhile, the authorization server reports that the sign-in is pending.
      await waitUntil(() => authorization.requestLog.refusals('authorization_pending') > 0);
      expect((await ask('POST', PATH, BY_CODE)).body).toEqual(begun.body);
      const meanwhile = await ask('GET', PATH);
      expect(meanwhile.body).toMatchObject({ signedIn: false, waitingSince: expect.any(String) });
      expect(meanwhile.text).not.toContain(String(begun.body.code));
      await visit(String(begun.body.url));
      await waitUntil(async () => (await ask('GET', PATH)).body.signedIn === true);
      await waitUntil(async () => (await ask('GET', PATH)).body.waitingSince === undefined);
      expect(await runtime.callTool('web', 'echo', { text: 'hi' })).toMatchObject({
        content: [{ text: 'hi' }],
      });
      expect((await ask('POST', PATH, BY_CODE)).body).toEqual({ state: 'done' });
    });

    it('reports the failure when the person declines', async () => {
      const { ask, authorization } = await openDevice();
      authorization.person.consents = false;
      const begun = await ask('POST', PATH, BY_CODE);
      // A person who declines is asked for a code again.
      await visit(String(begun.body.url)).catch(() => {});
      await waitUntil(async () => (await ask('GET', PATH)).body.failure !== undefined);
      const { body } = await ask('GET', PATH);
      expect(body).toMatchObject({ signedIn: false, failure: { code: 'AUTH_FAILED' } });
      expect(body.waitingSince).toBeUndefined();
    });

    it('can be cancelled', async () => {
      const { ask, authorization } = await openDevice();
      await ask('POST', PATH, BY_CODE);
      await waitUntil(() => authorization.requestLog.refusals('authorization_pending') > 0);
      expect((await ask('DELETE', PATH)).body).toMatchObject({ cancelled: true });
      await waitUntil(async () => (await ask('GET', PATH)).body.waitingSince === undefined);
      expect((await ask('GET', PATH)).body).toMatchObject({ failure: { code: 'CALL_CANCELLED' } });
    });
  });

  it('can be cancelled, and its end is reported', async () => {
    const { ask } = await openProtected();
    await ask('POST', PATH, { body: { method: 'paste' } });
    expect((await ask('DELETE', PATH)).body).toMatchObject({ cancelled: true });
    await waitUntil(async () => (await ask('GET', PATH)).body.waitingSince === undefined);
    expect((await ask('GET', PATH)).body).toMatchObject({ failure: { code: 'CALL_CANCELLED' } });
    expect((await ask('POST', PATH, { body: { address: 'http://x' } })).status).toBe(404);
    expect((await ask('POST', PATH)).body).toMatchObject({ state: 'waiting' });
  });

  it('is not needed for a server without authorization', async () => {
    const { ask } = await openStage();
    const path = '/api/servers/demo/sign-in';
    expect((await ask('GET', path)).body).toEqual({ server: 'demo', type: 'none', signedIn: false });
    expect((await ask('POST', path)).body).toEqual({ state: 'done' });
    expect((await ask('DELETE', path)).body).toMatchObject({ found: false });
    expect((await ask('POST', path, { body: { method: 'magic' } })).status).toBe(422);
  });
});
