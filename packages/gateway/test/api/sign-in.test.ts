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

async function openWall(): Promise<Stage & { readonly authorization: AuthorizationServer }> {
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

describe('signing in at a server', () => {
  it('tells the page, and is done when somebody has been there', async () => {
    const { ask, runtime } = await openWall();
    expect((await ask('GET', PATH)).body).toMatchObject({ signedIn: false });
    const begun = await ask('POST', PATH);
    expect(begun.body).toMatchObject({
      state: 'waiting',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1/),
    });
    // Who asks again is told the same page: there is one sign-in.
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
    const { ask, token, tokens } = await openWall();
    const [mine, other] = [await token(['look', 'manage']), await token(['look', 'manage'])];
    const begun = await ask('POST', PATH, { token: mine });
    expect((await ask('POST', PATH, { token: other })).body).toEqual(begun.body);
    await tokens.revoke('made-2');
    expect((await ask('GET', PATH)).body.waitingSince).toEqual(expect.any(String));
    await tokens.revoke('made-1');
    await waitUntil(async () => (await ask('GET', PATH)).body.waitingSince === undefined);
    // Nobody takes what the browser brings back.
    await visit(String(begun.body.url)).catch(() => {});
    expect((await ask('GET', PATH)).body).toMatchObject({
      signedIn: false,
      failure: { code: 'CALL_CANCELLED' },
    });
  });

  it('takes the address that a browser elsewhere ended at', async () => {
    const { ask } = await openWall();
    const begun = await ask('POST', PATH, { body: { method: 'paste' } });
    const until = new URL(String(begun.body.url)).searchParams.get('redirect_uri') ?? '';
    const { url } = await visit(String(begun.body.url), { until });
    expect((await ask('POST', PATH, { body: { address: url } })).body).toEqual({ state: 'waiting' });
    await waitUntil(async () => (await ask('GET', PATH)).body.signedIn === true);
  });

  describe('with a code that is typed in elsewhere', () => {
    const BY_CODE = { body: { method: 'device' } };

    async function openDevice(): Promise<Awaited<ReturnType<typeof openWall>>> {
      const wall = await openWall();
      wall.authorization.faults.set(
        'device',
        altered((answer) => ({ ...answer, interval: 0.05 })),
      );
      return wall;
    }

    it('tells page and code, and is done when somebody has been there', async () => {
      const { ask, runtime, authorization } = await openDevice();
      const begun = await ask('POST', PATH, BY_CODE);
      expect(begun.body).toMatchObject({
        state: 'waiting',
        url: expect.stringContaining(authorization.issuer),
        code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      });
      // Asked meanwhile, the authorization server says that nobody has been there yet.
      await waitUntil(() => authorization.tally.refusals('authorization_pending') > 0);
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

    it('says why it failed when somebody says no there', async () => {
      const { ask, authorization } = await openDevice();
      authorization.person.consents = false;
      const begun = await ask('POST', PATH, BY_CODE);
      // Whoever says no is asked for a code again, and again.
      await visit(String(begun.body.url)).catch(() => {});
      await waitUntil(async () => (await ask('GET', PATH)).body.failure !== undefined);
      const { body } = await ask('GET', PATH);
      expect(body).toMatchObject({ signedIn: false, failure: { code: 'AUTH_FAILED' } });
      expect(body.waitingSince).toBeUndefined();
    });

    it('is given up', async () => {
      const { ask, authorization } = await openDevice();
      await ask('POST', PATH, BY_CODE);
      await waitUntil(() => authorization.tally.refusals('authorization_pending') > 0);
      expect((await ask('DELETE', PATH)).body).toMatchObject({ cancelled: true });
      await waitUntil(async () => (await ask('GET', PATH)).body.waitingSince === undefined);
      expect((await ask('GET', PATH)).body).toMatchObject({ failure: { code: 'CALL_CANCELLED' } });
    });
  });

  it('is given up, and its end is told', async () => {
    const { ask } = await openWall();
    await ask('POST', PATH, { body: { method: 'paste' } });
    expect((await ask('DELETE', PATH)).body).toMatchObject({ cancelled: true });
    await waitUntil(async () => (await ask('GET', PATH)).body.waitingSince === undefined);
    expect((await ask('GET', PATH)).body).toMatchObject({ failure: { code: 'CALL_CANCELLED' } });
    expect((await ask('POST', PATH, { body: { address: 'http://x' } })).status).toBe(404);
    expect((await ask('POST', PATH)).body).toMatchObject({ state: 'waiting' });
  });

  it('is not needed, or not possible, at others', async () => {
    const { ask } = await openStage();
    const path = '/api/servers/demo/sign-in';
    expect((await ask('GET', path)).body).toEqual({ server: 'demo', type: 'none', signedIn: false });
    expect((await ask('POST', path)).body).toEqual({ state: 'done' });
    expect((await ask('DELETE', path)).body).toMatchObject({ found: false });
    expect((await ask('POST', path, { body: { method: 'magic' } })).status).toBe(422);
  });
});
