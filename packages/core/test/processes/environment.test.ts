import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime, textOf } from '../lifecycle/open-runtime.js';

it('a child sees the standard variables, the named ones and its own, and nothing else of the host', async () => {
  const host = {
    PATH: process.env.PATH,
    HOME: '/home/somebody',
    LANG: 'C.UTF-8',
    LC_ALL: '() { echo code; }',
    ANTHROPIC_API_KEY: 'secret of the host',
    NODE_OPTIONS: '--no-warnings',
    WANTED: 'named by the configuration',
    PROXY: 'not named',
    OWN: 'of the host',
    TURNBUCKLE_PASSPHRASE: 'opens the vault',
  };
  const runtime = await openRuntime({
    environment: host,
    servers: {
      echo: {
        ...fixture('echo'),
        env: { OWN: 'of the server', EXTRA: '1' },
        inheritEnv: ['WANTED', 'ABSENT', 'TURNBUCKLE_PASSPHRASE'],
      },
    },
  });
  const { TURNBUCKLE_TAG, ...seen } = JSON.parse(textOf(await runtime.callTool('echo', 'env')));
  expect(TURNBUCKLE_TAG).toEqual(expect.any(String));
  expect(seen).toEqual({
    PATH: process.env.PATH,
    HOME: '/home/somebody',
    LANG: 'C.UTF-8',
    WANTED: 'named by the configuration',
    OWN: 'of the server',
    EXTRA: '1',
  });
});
