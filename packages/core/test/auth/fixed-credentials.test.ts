import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { startFixture, temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRuntime, textOf } from '../lifecycle/open-runtime.js';
import { Keeper } from './keeper.js';

const echo = async (runtime: Awaited<ReturnType<typeof openRuntime>>): Promise<string> =>
  textOf(await runtime.callTool('web', 'echo', { text: 'hi' }));

// requirement K1
describe.each([true, false])('express lane %s', (expressLane) => {
  it.each([
    ['a bearer token', { type: 'bearer', token: 'good' }, 'authorization', 'Bearer good'],
    ['an API key', { type: 'api-key', apiKey: 'good' }, 'x-api-key', 'good'],
    [
      'an API key in a custom header',
      { type: 'apiKey', apiKey: 'good', headerName: 'X-Own' },
      'x-own',
      'good',
    ],
  ])('%s is sent with every request', async (_, auth, header, value) => {
    const keeper = await Keeper.start({ header, value });
    const runtime = await openRuntime({
      servers: { web: { type: 'http', url: keeper.url, auth } } as never,
      expressLane,
    });
    expect(await echo(runtime)).toBe('hi');
    expect(keeper.refused).toBe(0);
  });

  it('a credential in the auth block replaces a header with the same name', async () => {
    const keeper = await Keeper.start({ header: 'authorization', value: 'Bearer good' });
    const runtime = await openRuntime({
      servers: {
        web: {
          type: 'http',
          url: keeper.url,
          headers: { Authorization: 'Bearer old' },
          auth: { type: 'bearer', token: 'good' },
        },
      },
      expressLane,
    });
    expect(await echo(runtime)).toBe('hi');
    expect(keeper.refused).toBe(0);
  });
});

it('a rejected credential does not prompt: the error names the configuration', async () => {
  const keeper = await Keeper.start({ header: 'authorization', value: 'Bearer other' });
  const runtime = await openRuntime({
    servers: { web: { type: 'http', url: keeper.url, auth: { type: 'bearer', token: 'bad' } } },
  });
  await runtime.connectAll();
  expect(runtime.serverStatus('web')).toMatchObject({ status: 'needs-auth' });
  const refused = keeper.refused;
  for (let call = 0; call < 5; call += 1)
    await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(keeper.refused).toBe(refused);
  await expect(runtime.signIn('web', { prompts: { open: () => {} } })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    hint: expect.stringContaining('bearer'),
  });
});

it('no credential follows a redirect to another origin', async () => {
  const directory = await temporaryDirectory();
  const log = directory.file('log');
  const wall = await startFixture('auth-wall', {
    transport: 'http',
    flags: ['--redirect', 'other', '--log-file', log],
  });
  onTestFinished(async () => {
    await wall.stop();
    await directory.remove();
  });
  for (const auth of [
    { type: 'bearer', token: 'secret' },
    { type: 'api-key', apiKey: 'secret', headerName: 'Authorization' },
  ] as const) {
    const runtime = await openRuntime({ servers: { web: { type: 'http', url: wall.url, auth } } });
    await runtime.connectAll();
  }
  const lines = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { at: string; authorization?: string });
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter(({ at, authorization }) => at === 'other' && authorization !== undefined)).toEqual([]);
});

describe('a token file', () => {
  async function setFile(token: string) {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const file = directory.file('token');
    const replace = async (next: string): Promise<void> => {
      await writeFile(`${file}.next`, next);
      await rename(`${file}.next`, file);
    };
    await replace(token);
    return { file, replace };
  }

  it('is read again when it changes, without a new connection', async () => {
    const keeper = await Keeper.start({ header: 'authorization', value: 'Bearer one' });
    const { file, replace } = await setFile('one\n');
    const runtime = await openRuntime({
      servers: { web: { type: 'http', url: keeper.url, auth: { type: 'token-file', tokenPath: file } } },
    });
    expect(await echo(runtime)).toBe('hi');
    keeper.value = 'Bearer two';
    await replace('two\n');
    expect(await echo(runtime)).toBe('hi');
    expect(await echo(runtime)).toBe('hi');
    expect(keeper.refused).toBeLessThanOrEqual(1);
  });

  it('in a custom header, with a custom prefix', async () => {
    const keeper = await Keeper.start({ header: 'x-token', value: 'key=one' });
    const { file } = await setFile('one');
    const runtime = await openRuntime({
      servers: {
        web: {
          type: 'http',
          url: keeper.url,
          auth: { type: 'tokenFile', tokenPath: file, headerName: 'X-Token', prefix: 'key=' },
        },
      },
    });
    expect(await echo(runtime)).toBe('hi');
  });

  it('that was rejected is tried again only after it has changed', async () => {
    const keeper = await Keeper.start({ header: 'authorization', value: 'Bearer good' });
    const { file, replace } = await setFile('bad');
    const runtime = await openRuntime({
      servers: { web: { type: 'http', url: keeper.url, auth: { type: 'token-file', tokenPath: file } } },
    });
    await runtime.connectAll();
    expect(runtime.serverStatus('web')).toMatchObject({ status: 'needs-auth' });
    const refused = keeper.refused;
    for (let call = 0; call < 5; call += 1)
      await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(keeper.refused).toBe(refused);
    await replace('good');
    expect(await echo(runtime)).toBe('hi');
  });

  it.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['holds two lines', 'one\ntwo'],
    ['is far too large', 'x'.repeat(70_000)],
  ])('that %s is reported, and used once it is valid', async (_, content) => {
    const keeper = await Keeper.start({ header: 'authorization', value: 'Bearer good' });
    const { file, replace } = await setFile(content ?? 'good');
    const path = content === undefined ? `${file}.missing` : file;
    const runtime = await openRuntime({
      servers: { web: { type: 'http', url: keeper.url, auth: { type: 'token-file', tokenPath: path } } },
    });
    await expect(echo(runtime)).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
      hint: `Check ${path}.`,
    });
    expect(keeper.requests).toBe(0);
    if (content === undefined) return;
    await replace('good');
    expect(await echo(runtime)).toBe('hi');
  });
});
