import { altered } from '@turnbuckle/testing/authorization-server';
import { describe, expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

type Answer = Record<string, unknown>;

const UNUSABLE: ReadonlyArray<[string, (answer: Answer) => Answer | string]> = [
  ['CR/LF in the token', (answer) => ({ ...answer, access_token: 'a\r\nx-evil: 1' })],
  ['CR/LF in the refresh token', (answer) => ({ ...answer, refresh_token: 'a\r\nb' })],
  ['a space in the token', (answer) => ({ ...answer, access_token: 'a b' })],
  ['characters that are invalid in a header', (answer) => ({ ...answer, access_token: 'tökén' })],
  ['an empty token', (answer) => ({ ...answer, access_token: '' })],
  ['no token', ({ access_token: _, ...answer }) => answer],
  ['a number as the token', (answer) => ({ ...answer, access_token: 7 })],
  ['a token of 4 MB', (answer) => ({ ...answer, access_token: 'x'.repeat(4_000_000) })],
  ['a token of 100 kB', (answer) => ({ ...answer, access_token: 'x'.repeat(100_000) })],
  ['an unknown token type', (answer) => ({ ...answer, token_type: 'mac' })],
  ['__proto__ as the token type', (answer) => ({ ...answer, token_type: '__proto__' })],
  ['constructor as the token type', (answer) => ({ ...answer, token_type: 'constructor' })],
  ['no token type', ({ token_type: _, ...answer }) => answer],
  ['a list', () => '[]'],
  ['nothing', () => ''],
  ['invalid JSON', () => '<html>'],
  ['NaN as expires_in', (answer) => JSON.stringify(answer).replace(/"expires_in":\d+/, '"expires_in":NaN')],
  ['an error with status 200', () => ({ error: 'server_error', error_description: 'sorry' })],
];

describe('S28: a response with', () => {
  it.each(UNUSABLE)('%s is a typed error, after one request', async (_, change) => {
    const { authorization, server, open, prompts } = await setStage();
    authorization.faults.set('token', altered(change));
    const runtime = await open();
    const error: unknown = await runtime.signIn('web', { prompts }).catch((thrown: unknown) => thrown);
    expect(['AUTH_FAILED', 'FETCH_REFUSED']).toContain(Reflect.get(Object(error), 'code'));
    expect(authorization.requestLog.count('token')).toBe(1);
    expect(server.guard.requests.filter(({ authorization: sent }) => sent !== undefined)).toEqual([]);
    expect(await runtime.signInStatus('web')).toMatchObject({ signedIn: false });
  });

  it.each([
    ['-1', -1],
    ['0', 0],
    ['a string', '3600'],
    ['a string that is not a number', 'soon'],
    ['null', null],
    ['10^400', 1e308],
    ['a fraction', 0.000_1],
  ])('expires_in %s causes no loop', async (_, expiresIn) => {
    const { authorization, open, prompts } = await setStage();
    authorization.faults.set(
      'token',
      altered((answer) => ({ ...answer, expires_in: expiresIn })),
    );
    const runtime = await open();
    const error: unknown = await runtime.signIn('web', { prompts }).catch((thrown: unknown) => thrown);
    if (error instanceof Error) {
      expect(error).toMatchObject({ code: 'AUTH_FAILED' });
      expect(authorization.requestLog.count('token')).toBe(1);
      return;
    }
    for (let call = 0; call < 20; call += 1) expect(await echo(runtime)).toBe('hi');
    expect(authorization.requestLog.count('token')).toBeLessThanOrEqual(4);
    const { expiresAt } = await runtime.signInStatus('web');
    if (expiresAt !== undefined) expect(expiresAt.getTime() - Date.now()).toBeLessThan(400 * 86_400_000);
  });

  it.each([
    ['CR/LF in the token', (answer: Answer) => ({ ...answer, access_token: 'a\r\nb' })],
    ['an unknown token type', (answer: Answer) => ({ ...answer, token_type: 'mac' })],
    ['4 MB', (answer: Answer) => ({ ...answer, access_token: 'x'.repeat(4_000_000) })],
  ])('%s at a renewal causes no loop either', async (_, change) => {
    let ahead = 0;
    const { authorization, open, prompts } = await setStage();
    const runtime = await open(undefined, { now: () => Date.now() + ahead });
    await runtime.signIn('web', { prompts });
    authorization.faults.set('token', altered(change));
    ahead = 3_601_000;
    for (let call = 0; call < 10; call += 1) {
      const { failure } = await runtime.execute('mcp__web__echo', { text: 'x' });
      expect(['AUTH_FAILED', 'AUTH_REQUIRED', 'CONNECT_FAILED', 'BREAKER_OPEN']).toContain(failure?.code);
    }
    expect(authorization.requestLog.count('token')).toBeLessThanOrEqual(1 + 3);
  });
});
