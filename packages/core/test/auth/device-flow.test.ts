import { altered, visit } from '@turnbuckle/testing/authorization-server';
import type { SignInPrompts } from 'turnbuckle';
import { expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const QUICK = altered((answer) => ({ ...answer, interval: 0.05 }));

/** The user opens the page on another machine after a while. */
function elsewhere(): { prompts: SignInPrompts; codes: string[] } {
  const codes: string[] = [];
  const prompts: SignInPrompts = {
    open: () => Promise.reject(new Error('there is no browser here')),
    showCode({ url, code }) {
      codes.push(code);
      // The test does not depend on whether this visit succeeds.
      setTimeout(() => void visit(url).catch(() => {}), 150);
    },
  };
  return { prompts, codes };
}

it('a code is shown here and entered on another machine', async () => {
  const { authorization, open } = await setStage();
  authorization.faults.set('device', QUICK);
  const runtime = await open();
  const { prompts, codes } = elsewhere();
  expect(await runtime.signIn('web', { method: 'device', prompts })).toBe(true);
  expect(await echo(runtime)).toBe('hi');
  expect(codes).toEqual([expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/)]);
  expect(authorization.requestLog.refusals('authorization_pending')).toBeGreaterThan(0);
  expect(authorization.requestLog.granted(DEVICE)).toBe(1);
});

it('a client with a secret sends it when it requests the code', async () => {
  const client = {
    client_id: 'known',
    client_secret: 'secret',
    redirect_uris: [],
    response_types: [],
    grant_types: [DEVICE, 'refresh_token'],
  } as const;
  const { authorization, open } = await setStage({ clients: [client], registration: false });
  authorization.faults.set('device', QUICK);
  const runtime = await open({ type: 'oauth', clientId: 'known', clientSecret: 'secret' });
  await runtime.signIn('web', { method: 'device', prompts: elsewhere().prompts });
  expect(await echo(runtime)).toBe('hi');
});

it('a user who signed in with a browser before can sign in with a code', async () => {
  const { authorization, open, prompts } = await setStage();
  authorization.faults.set('device', QUICK);
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  await runtime.signIn('web', { method: 'device', force: true, prompts: elsewhere().prompts });
  expect(await echo(runtime)).toBe('hi');
  await runtime.signIn('web', { force: true, prompts });
  expect(await echo(runtime)).toBe('hi');
});

it('a denied sign-in ends the flow', async () => {
  const { authorization, open } = await setStage();
  authorization.faults.set('device', QUICK);
  authorization.person.consents = false;
  const runtime = await open();
  await expect(
    runtime.signIn('web', { method: 'device', prompts: elsewhere().prompts }),
  ).rejects.toMatchObject({ code: 'AUTH_FAILED', data: { error: 'access_denied' } });
});

it('a temporarily unavailable authorization server is polled again', async () => {
  const { authorization, open } = await setStage();
  authorization.faults.set('device', QUICK);
  let asked = 0;
  authorization.faults.set('token', {
    before(context) {
      asked += 1;
      if (asked > 2) return false;
      context.status = 503;
      return true;
    },
  });
  const runtime = await open();
  await runtime.signIn('web', { method: 'device', prompts: elsewhere().prompts });
  expect(await echo(runtime)).toBe('hi');
});

it('a code that is never entered expires', async () => {
  const { authorization, open } = await setStage();
  authorization.faults.set(
    'device',
    altered((answer) => ({ ...answer, interval: 0.02, expires_in: 0.2 })),
  );
  const runtime = await open();
  const prompts: SignInPrompts = { open: () => {}, showCode: () => {} };
  await expect(runtime.signIn('web', { method: 'device', prompts })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    message: expect.stringContaining('expired before it was entered'),
  });
});

it('without the device flow the error names the alternatives', async () => {
  const { authorization, open } = await setStage();
  authorization.faults.set(
    'metadata',
    altered(({ device_authorization_endpoint: _, ...answer }) => answer),
  );
  const runtime = await open();
  await expect(
    runtime.signIn('web', { method: 'device', prompts: elsewhere().prompts }),
  ).rejects.toMatchObject({ code: 'AUTH_FAILED', hint: expect.stringContaining('--paste') });
});
