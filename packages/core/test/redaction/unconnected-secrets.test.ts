// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are texts here
/** The secrets of all configured servers are known, whether a connection was opened with them or not. */
import { join } from 'node:path';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { createVault } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSetting } from '../config/setting.js';

const LAZY = { ...fixture('echo'), start: 'lazy' };
const ADA = { id: 'ada', capabilities: ['mcp_integration'] };
const VALUE = 'zebraquartzlampshade77';
const KEYS_IN_FILES = { TURNBUCKLE_KEYCHAIN: 'off' };

/** Where a secret can be written, as the keys of an entry, with the environment of the host. */
const PLACES: ReadonlyArray<
  readonly [what: string, entry: Record<string, unknown>, environment?: Record<string, string>]
> = [
  ['an entry', { env: { API_KEY: VALUE } }],
  ['the credentials of a caller', { credentials: { bob: { env: { API_KEY: VALUE } } } }],
  ['an argument', { args: [...fixture('echo').args, '--token', VALUE] }],
  ['a variable', { env: { API_KEY: '${MY_TOKEN}' } }, { MY_TOKEN: VALUE }],
  ['a variable with a plain name', { env: { API_KEY: '${MINE}' } }, { MINE: VALUE }],
  ['a default', { env: { API_KEY: `\${MINE:-${VALUE}}` } }],
  ['a secret in a variable', { env: { X: '${secret:db}' } }, { TURNBUCKLE_SECRET_DB: VALUE }],
  [
    'a secret of a caller',
    { credentials: { bob: { env: { X: '${secret:db}' } } } },
    { TURNBUCKLE_SECRET_DB: VALUE },
  ],
  [
    'a secret beside one without a value',
    { env: { X: '${secret:none}', Y: '${secret:db}' } },
    { TURNBUCKLE_SECRET_DB: VALUE },
  ],
];

const rows = PLACES.map(([what, entry, environment = {}]) => ({ what, entry, environment }));

describe('a secret of a server that is not connected', () => {
  it.each(rows)('is redacted, and no agent can send it: in $what', async ({ entry, environment }) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, {
      servers: { one: LAZY, other: { ...LAZY, ...Object(entry) } },
      rules: [{ action: 'allow' }],
    });
    const { runtime } = await setting.open({
      environment: { ...setting.environment, ...Object(environment) },
    });
    expect(runtime.redact(`a ${VALUE} b`)).toBe('a [redacted] b');
    await expect(runtime.callTool('one', 'echo', { text: VALUE }, { caller: ADA })).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
    expect(runtime.serverStatus('other').status).toBe('pending');
  });

  it('is known in a program without files', async () => {
    const other = { ...LAZY, credentials: { bob: { env: { API_KEY: VALUE } } } };
    const runtime = await createRuntime({ servers: { other } as never });
    onTestFinished(() => runtime.close());
    expect(runtime.redact(VALUE)).toBe('[redacted]');
    expect(runtime.redact('${secret:db} ${MY_TOKEN}')).toBe('${secret:db} ${MY_TOKEN}');
  });

  it('is known after a reload, and not before its project is trusted', async () => {
    const setting = await createSetting();
    const entry = { ...LAZY, env: { API_KEY: '${MY_TOKEN}' } };
    await setting.write(setting.projectFile, { servers: { theirs: entry } });
    const environment = { ...setting.environment, MY_TOKEN: VALUE };
    const { runtime, reload } = await setting.open({ environment });
    expect(runtime.redact(VALUE)).toBe(VALUE);
    await setting.write(setting.userFile, { servers: { mine: entry } });
    await reload();
    expect(runtime.redact(VALUE)).toBe('[redacted]');
  });
});

describe('a secret in the vault', () => {
  async function withVault(environment: Record<string, string>) {
    const setting = await createSetting();
    const all = { ...setting.environment, ...Object(environment) };
    await createVault({ stateDir: setting.stateDir, environment: all }).set('secret/db', VALUE);
    await setting.write(setting.userFile, {
      servers: {
        one: { ...LAZY, env: { X: '${secret:first}' } },
        other: { ...LAZY, env: { X: '${secret:db}' } },
      },
    });
    return { setting, all };
  }

  it.each([
    ['its key is in a file', KEYS_IN_FILES],
    ['its passphrase is in the environment', { TURNBUCKLE_PASSPHRASE: 'correct horse battery' }],
  ])('is known if %s', async (_, environment) => {
    const { setting, all } = await withVault(environment);
    const { runtime, secretsLearned } = await setting.open({ environment: all });
    await secretsLearned();
    expect(runtime.redact(VALUE)).toBe('[redacted]');
  });

  it('is not asked for, and known when a connection has opened the vault', async () => {
    const { setting } = await withVault({ TURNBUCKLE_PASSPHRASE: 'correct horse battery' });
    const asked: string[] = [];
    const vault = createVault({
      stateDir: setting.stateDir,
      environment: setting.environment,
      passphrase: async (why) => {
        asked.push(why);
        return 'correct horse battery';
      },
    });
    await vault.set('secret/first', 'another-secret-1234');
    asked.length = 0;
    const again = createVault({
      stateDir: setting.stateDir,
      environment: setting.environment,
      passphrase: async (why) => {
        asked.push(why);
        return 'correct horse battery';
      },
    });
    const { runtime, secretsLearned } = await setting.open({ vault: again });
    await secretsLearned();
    expect([asked, runtime.redact(VALUE)]).toEqual([[], VALUE]);
    await runtime.connect('one');
    await secretsLearned();
    await waitUntil(() => runtime.redact(VALUE) === '[redacted]');
    expect(asked).toEqual(['open']);
  });

  it('stops no start if the vault is damaged, and is not read if no server refers to one', async () => {
    const setting = await createSetting();
    await setting.write(join(setting.stateDir, 'vault.json'), 'damaged');
    await setting.write(setting.userFile, { servers: { one: { ...LAZY, env: { X: '${secret:db}' } } } });
    const { runtime, secretsLearned } = await setting.open();
    await secretsLearned();
    expect(runtime.serverStatus('one').status).toBe('pending');
    await setting.write(setting.userFile, { servers: { one: LAZY } });
    const opened: string[] = [];
    const other = await setting.open({
      vault: async () => {
        opened.push('opened');
        throw new Error('not needed');
      },
    });
    await other.secretsLearned();
    expect(opened).toEqual([]);
  });
});
