import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { expect, it } from 'vitest';
import { echo, setStage } from './stage.js';

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

/** A vault in memory that can be told to fail. */
function createVault() {
  const entries = new Map<string, string>();
  const broken = { get: false, set: false };
  const unavailable = (): never => {
    throw new TurnbuckleError('SECRETS_UNAVAILABLE', 'The vault cannot be used.');
  };
  return {
    entries,
    broken,
    get: async (name: string) => (broken.get ? unavailable() : entries.get(name)),
    set: async (name: string, value: string) => void (broken.set ? unavailable() : entries.set(name, value)),
    delete: async (name: string) => entries.delete(name),
    list: async () => [...entries.keys()].map((name) => ({ name })),
  };
}

// requirement K2
it('S26: tokens are in files that only their owner can read, and not in the open', async () => {
  const { authorization, server, stateDir, open, prompts } = await setStage();
  await chmod(stateDir, 0o755);
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  await echo(runtime);
  expect(await modeOf(stateDir)).toBe('700');
  const names = await readdir(stateDir, { recursive: true, withFileTypes: true });
  expect(names.map(({ name }) => name)).toContain('vault.json');
  const [token = ''] = server.guard.admitted;
  const secrets = [
    token,
    authorization.requestLog.requests.find(({ clientId }) => clientId !== undefined)?.clientId,
  ];
  for (const entry of names) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) {
      expect([path, await modeOf(path)]).toEqual([path, '700']);
      continue;
    }
    // A temporary file may have been removed by now.
    const content = await readFile(path, 'utf8').catch(() => undefined);
    if (content === undefined) continue;
    for (const secret of secrets) expect(content.includes(secret ?? '')).toBe(false);
    if (/vault|lock/.test(path)) expect([path, await modeOf(path)]).toEqual([path, '600']);
  }
});

it('the sign-in status contains no secret', async () => {
  const { server, open, prompts } = await setStage();
  const runtime = await open();
  await runtime.signIn('web', { prompts });
  await echo(runtime);
  const [token = ''] = server.guard.admitted;
  const status = await runtime.signInStatus('web');
  expect(status).toMatchObject({ signedIn: true, account: 'default', renewable: true, scope: 'tools:read' });
  expect(JSON.stringify([status, runtime.status()])).not.toContain(token);
});

it('a token that could not be stored is still used, and later renewed', async () => {
  let ahead = 0;
  const { authorization, open, prompts } = await setStage();
  const vault = createVault();
  const runtime = await open(undefined, { vault, now: () => Date.now() + ahead });
  await runtime.signIn('web', { prompts });
  vault.broken.set = true;
  ahead += 3_601_000;
  const { failure } = await runtime.execute('mcp__web__echo', { text: 'x' });
  expect(failure?.code).toBe('SECRETS_UNAVAILABLE');
  expect(await echo(runtime)).toBe('hi');
  vault.broken.set = false;
  ahead += 3_601_000;
  expect(await echo(runtime)).toBe('hi');
  expect(authorization.requestLog.granted('refresh_token')).toBe(2);
  expect(authorization.requestLog.refusals('invalid_grant')).toBe(0);
  const later = await open(undefined, { vault, now: () => Date.now() + ahead });
  expect(await echo(later)).toBe('hi');
});

it('a vault that cannot be opened does not affect servers without sign-in', async () => {
  const { server, open } = await setStage();
  const vault = createVault();
  vault.broken.get = true;
  const refuse = server.guard.check.bind(server.guard);
  server.guard.check = async () => undefined;
  const runtime = await open(undefined, { vault });
  expect(await echo(runtime)).toBe('hi');
  server.guard.check = refuse;
  const asked = await open(undefined, { vault });
  await expect(echo(asked)).rejects.toMatchObject({ code: 'SECRETS_UNAVAILABLE' });
});
