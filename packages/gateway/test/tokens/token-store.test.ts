import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readOwnerToken } from '../../src/tokens/owner-token.js';
import { TokenStore } from '../../src/tokens/token-store.js';

async function stage() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const clock = { now: Date.parse('2026-11-15T12:00:00Z') };
  const warnings: string[] = [];
  const stateDir = directory.file('state');
  const open = (): Promise<TokenStore> =>
    TokenStore.open({ stateDir, now: () => clock.now, onWarning: (message) => warnings.push(message) });
  const file = (name: string): string => `${stateDir}/${name}`;
  return { stateDir, file, clock, warnings, open };
}

const ROBOT = { name: 'robot', can: ['mcp_github'], access: ['call'] } as const;

describe('the token of the owner', () => {
  it('is created once, has all access, and is readable only by the owner', async () => {
    const { open, stateDir, file } = await stage();
    const store = await open();
    const token = readOwnerToken(stateDir) ?? '';
    expect(token).toMatch(/^tbk_[\w-]{43}$/);
    expect(store.find(token)).toEqual({
      caller: { id: 'owner', identity: expect.any(String), capabilities: ['mcp_integration'] },
      isOwner: true,
      ended: expect.objectContaining({ aborted: false }),
      access: new Set(['call', 'read', 'admin']),
    });
    await open();
    expect(readOwnerToken(stateDir)).toBe(token);
    expect(readFileSync(file('tokens.json'), 'utf8')).not.toContain(token);
    const modes = ['', 'daemon-token', 'tokens.json'].map((name) => statSync(file(name)).mode & 0o777);
    if (process.platform !== 'win32') expect(modes).toEqual([0o700, 0o600, 0o600]);
  });

  it('is created once, however often the store is opened at once', async () => {
    const { open, stateDir } = await stage();
    const stores = await Promise.all(Array.from({ length: 5 }, open));
    const token = readOwnerToken(stateDir) ?? '';
    expect((await open()).list().map(({ name }) => name)).toEqual(['owner']);
    expect(stores[0]?.list()).toHaveLength(1);
    expect((await open()).find(token)).toBeDefined();
  });

  it('is created anew if its file is missing or contains another token', async () => {
    const { open, stateDir, file } = await stage();
    const first = (await open()) && readOwnerToken(stateDir);
    rmSync(file('daemon-token'));
    const store = await open();
    expect(store.find(first ?? '')).toBeUndefined();
    expect(store.find(readOwnerToken(stateDir) ?? '')).toBeDefined();
    writeFileSync(file('daemon-token'), 'tbk_planted');
    const again = await open();
    expect(again.find('tbk_planted')).toBeUndefined();
    expect(again.list().map(({ name }) => name)).toEqual(['owner']);
  });

  it('is replaced when it is revoked', async () => {
    const { open, stateDir } = await stage();
    const store = await open();
    const old = readOwnerToken(stateDir) ?? '';
    expect(await store.revoke('owner')).toBe(true);
    expect(store.find(old)).toBeUndefined();
    expect(store.find(readOwnerToken(stateDir) ?? '')).toBeDefined();
  });
});

describe('a token', () => {
  it('is returned once and stored as a hash', async () => {
    const { open, file } = await stage();
    const store = await open();
    const { token, facts } = await store.create(ROBOT);
    expect(facts).toEqual({ ...ROBOT, createdAt: '2026-11-15T12:00:00.000Z' });
    expect(store.find(token)).toEqual({
      caller: { id: 'robot', identity: expect.any(String), capabilities: ['mcp_github'] },
      isOwner: false,
      ended: expect.objectContaining({ aborted: false }),
      access: new Set(['call']),
    });
    expect(readFileSync(file('tokens.json'), 'utf8')).not.toContain(token.slice(4));
    expect(JSON.stringify(store.list())).not.toMatch(/[0-9a-f]{64}/);
  });

  it('that was stored with the access look and manage still works, and is rewritten as read and admin', async () => {
    const { open, file } = await stage();
    const { token } = await (await open()).create({ ...ROBOT, access: ['call', 'read', 'admin'] });
    const stored = readFileSync(file('tokens.json'), 'utf8');
    writeFileSync(
      file('tokens.json'),
      stored.replaceAll('"read"', '"look"').replaceAll('"admin"', '"manage"'),
    );
    const store = await open();
    const identity = store.find(token);
    expect(identity?.access).toEqual(new Set(['call', 'read', 'admin']));
    expect(store.list().map(({ access }) => access)).toEqual([
      ['call', 'read', 'admin'],
      ['call', 'read', 'admin'],
    ]);
    await store.create({ ...ROBOT, name: 'other' });
    expect(readFileSync(file('tokens.json'), 'utf8')).not.toMatch(/look|manage/);
    expect(store.find(token)).toBe(identity);
  });

  it('is valid until it expires', async () => {
    const { open, clock } = await stage();
    const store = await open();
    const { token } = await store.create({ ...ROBOT, expiresAt: new Date(clock.now + 5_000) });
    clock.now += 4_999;
    expect(store.find(token)).toBeDefined();
    clock.now += 1;
    expect(store.find(token)).toBeUndefined();
    expect(store.list().find(({ name }) => name === 'robot')?.expiresAt).toBe('2026-11-15T12:00:05.000Z');
  });

  it('is known at once to another open store when it is created, and unknown within a second when it is revoked', async () => {
    const { open, clock } = await stage();
    const daemon = await open();
    const command = await open();
    const { token } = await command.create(ROBOT);
    expect(daemon.find(token)?.caller.id).toBe('robot');
    expect(await command.revoke('robot')).toBe(true);
    clock.now += 1_000;
    expect(daemon.find(token)).toBeUndefined();
    expect(await command.revoke('robot')).toBe(false);
  });

  it('that is known is looked up on disk at most once in 20 ms', async () => {
    const { open, clock, file } = await stage();
    const store = await open();
    const { token } = await store.create(ROBOT);
    rmSync(file('tokens.json'));
    clock.now += 19;
    expect(store.find(token)).toBeDefined();
    clock.now += 20;
    expect(store.find(token)).toBeUndefined();
  });

  it.each([
    [{ name: 'a:b' }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '../x' }, 'name'],
    [{ access: [] }, 'access'],
    [{ can: ['github'] }, 'can.0'],
    [{ expiresAt: new Date(0) }, 'expiresAt'],
    [{ expiresAt: new Date('never') }, 'expiresAt'],
  ])('is not created with %j', async (wrong, path) => {
    const store = await (await stage()).open();
    const data = expect.objectContaining({ faults: [expect.objectContaining({ path })] });
    await expect(store.create({ ...ROBOT, ...wrong })).rejects.toMatchObject({
      code: 'ARGUMENTS_INVALID',
      data,
    });
  });

  it.each(['host', 'agents'])('cannot have a name that is reserved in rules: %s', async (name) => {
    const store = await (await stage()).open();
    await expect(store.create({ ...ROBOT, name })).rejects.toMatchObject({
      code: 'ARGUMENTS_INVALID',
      message: expect.stringContaining(`"${name}" is a reserved name`),
    });
  });

  it.each(['owner', 'robot'])('cannot have the name of another token: %s', async (name) => {
    const store = await (await stage()).open();
    await store.create(ROBOT);
    await expect(store.create({ ...ROBOT, name })).rejects.toMatchObject({ code: 'NAME_TAKEN' });
  });

  it('is not lost when many are created at once by several stores', async () => {
    const { open } = await stage();
    const stores = await Promise.all([open(), open(), open()]);
    const made = await Promise.all(
      Array.from({ length: 30 }, (_, number) => stores[number % 3]?.create({ ...ROBOT, name: `r${number}` })),
    );
    const store = await open();
    expect(made.filter((one) => store.find(one?.token ?? '') !== undefined)).toHaveLength(30);
  });
});

describe('the last use of a token', () => {
  it('is kept, and written at most once a minute', async () => {
    const { open, clock, file } = await stage();
    const store = await open();
    const { token } = await store.create(ROBOT);
    const kept = (): unknown => Object.values(JSON.parse(readFileSync(file('token-use.json'), 'utf8')))[0];
    const first = clock.now;
    store.find(token);
    expect(kept()).toBe(first);
    clock.now += 59_999;
    store.find(token);
    expect(kept()).toBe(first);
    clock.now += 1;
    store.find(token);
    expect(kept()).toBe(first + 60_000);
    clock.now += 5;
    store.find(token);
    store.close();
    const lastUsedAt = new Date(first + 60_005).toISOString();
    expect((await open()).list().find(({ name }) => name === 'robot')).toMatchObject({ lastUsedAt });
  });

  it('cannot make a lookup fail', async () => {
    const { open, file } = await stage();
    const store = await open();
    const { token } = await store.create(ROBOT);
    writeFileSync(file('token-use.json'), 'junk');
    expect(store.find(token)).toBeDefined();
    await open();
  });
});

describe('the token file', () => {
  it('that is damaged is not overwritten, and all tokens are rejected', async () => {
    const { open, file, clock, warnings } = await stage();
    const store = await open();
    const { token } = await store.create(ROBOT);
    const good = readFileSync(file('tokens.json'), 'utf8');
    writeFileSync(file('tokens.json'), good.slice(0, -20));
    clock.now += 1_000;
    expect(store.find(token)).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('Cannot read the token file')]);
    await expect(open()).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
    await expect(store.create({ ...ROBOT, name: 'x' })).rejects.toMatchObject({
      code: 'SECRETS_UNAVAILABLE',
    });
    expect(readFileSync(file('tokens.json'), 'utf8')).toBe(good.slice(0, -20));
    writeFileSync(file('tokens.json'), good);
    clock.now += 1_000;
    expect(store.find(token)).toBeDefined();
  });

  it.skipIf(process.platform === 'win32')('that others may write is restricted, with a warning', async () => {
    const { open, file, warnings } = await stage();
    await open();
    chmodSync(file('tokens.json'), 0o666);
    await open();
    expect(statSync(file('tokens.json')).mode & 0o777).toBe(0o600);
    expect(warnings).toEqual([expect.stringContaining('restricted to you')]);
    expect(existsSync(file('tokens.json.lock'))).toBe(false);
  });
});

it('a token file that was unreadable for a moment is read again, even if it did not change', async () => {
  const { open, file, clock, warnings } = await stage();
  const store = await open();
  const { token } = await store.create(ROBOT);
  expect(store.find(token)?.caller.id).toBe('robot');
  // A file that cannot be examined, whoever asks: a link to itself.
  renameSync(file('tokens.json'), file('kept'));
  symlinkSync('tokens.json', file('tokens.json'));
  for (let check = 0; check < 3; check += 1) {
    clock.now += 1_000;
    expect(store.find(token)).toBeUndefined();
  }
  expect(warnings.filter((text) => text.includes('tokens.json'))).toHaveLength(1);
  rmSync(file('tokens.json'));
  renameSync(file('kept'), file('tokens.json'));
  clock.now += 1_000;
  expect(store.find(token)?.caller.id).toBe('robot');
});

it('tells why a token is refused: unknown, expired or revoked', async () => {
  const { open, clock, file } = await stage();
  const store = await open();
  const { token: old } = await store.create({ ...ROBOT, expiresAt: new Date(clock.now + 5_000) });
  const { token: gone } = await store.create({ ...ROBOT, name: 'gone' });
  expect([store.find(old)?.caller.id, store.find(gone)?.caller.id]).toEqual(['robot', 'gone']);
  await store.revoke('gone');
  clock.now += 5_000;
  expect([store.find(old), store.find(gone)]).toEqual([undefined, undefined]);
  expect(store.whyRefused(old)).toEqual({ reason: 'expired', name: 'robot' });
  expect(store.whyRefused(gone)).toEqual({ reason: 'revoked', name: 'gone' });
  expect(store.whyRefused(`${gone.slice(0, -4)}aaaa`)).toEqual({ reason: 'unknown' });
  expect(store.whyRefused('something else')).toEqual({ reason: 'unknown' });
  // While the file cannot be read, no token is accepted, but none was revoked either.
  writeFileSync(file('tokens.json'), 'damaged');
  clock.now += 1_000;
  expect(store.find(old)).toBeUndefined();
  expect(store.whyRefused(old)).toEqual({ reason: 'unknown' });
});
