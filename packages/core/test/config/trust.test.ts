import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import type { ConfiguredServer, LoadedConfig } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TrustStore, type TrustSubject, trustHash } from '../../src/config/trust/trust.js';
import { markingServer, startsIn } from './marking-server.js';
import { createSetting } from './setting.js';

function serverIn(config: LoadedConfig, name: string): ConfiguredServer {
  const server = config.servers.get(name);
  if (server === undefined) throw new Error(`there is no ${name}`);
  return server;
}

// requirement P4
describe('a server of a project', () => {
  it.each(['.turnbuckle/mcp.json', '.turnbuckle/mcp.local.json', 'mcp-servers.json'])(
    'is not started before its user agreed, whatever is tried: %s',
    async (name) => {
      const { home, project, write, load, open } = await createSetting();
      const marker = join(home, 'marker');
      const file = await write(join(project, name), { servers: { evil: markingServer(marker) } });
      const loaded = await load();
      expect(serverIn(loaded, 'evil').problem).toMatchObject({ code: 'TRUST_REQUIRED', server: 'evil' });
      expect(serverIn(loaded, 'evil').problem?.message).toContain(file);
      expect(loaded.parsed.servers.size).toBe(0);

      const { runtime, reload, follow, trust, config } = await open();
      const refused = { code: 'TRUST_REQUIRED' };
      await runtime.connectAll();
      await expect(runtime.connect('evil')).rejects.toMatchObject(refused);
      await expect(runtime.reconnect('evil')).rejects.toMatchObject(refused);
      await expect(runtime.toggle('evil', true)).rejects.toMatchObject(refused);
      await expect(runtime.refresh('evil')).rejects.toMatchObject(refused);
      await expect(runtime.callTool('evil', 'echo', { text: 'x' })).rejects.toMatchObject(refused);
      await expect(runtime.listResources('evil')).rejects.toMatchObject(refused);
      await expect(runtime.call({ tool: 'mcp__evil__echo', arguments: {} })).rejects.toThrow();
      expect((await runtime.execute('mcp__evil__echo', {})).success).toBe(false);
      await runtime.refresh();
      runtime.tools();
      await runtime.setServers(config().parsed);
      expect((await reload()).errors.evil).toContain('is not trusted yet');
      const reloads: unknown[] = [];
      const stop = await follow((result) => reloads.push(result));
      await write(file, { servers: { evil: { ...markingServer(marker), description: 'touched' } } });
      await waitUntil(() => reloads.length > 0);
      await stop();
      expect(runtime.serverStatus('evil')).toMatchObject({ status: 'failed', error: refused });
      expect(startsIn(marker)).toBe(0);

      await trust.agree([serverIn(config(), 'evil')]);
      expect((await reload()).errors).toEqual({});
      expect(runtime.serverStatus('evil')).toMatchObject({ status: 'connected', scope: expect.any(String) });
      expect(startsIn(marker)).toBe(1);

      await trust.withdraw([serverIn(config(), 'evil')]);
      await reload();
      expect(runtime.serverStatus('evil')).toMatchObject({ status: 'failed', error: refused });
      expect(startsIn(marker)).toBe(1);
    },
  );

  it('is not started if the host sets a server with the same name', async () => {
    const { home, projectFile, write, open } = await createSetting();
    const marker = join(home, 'marker');
    await write(projectFile, { servers: { evil: markingServer(marker) } });
    const { runtime } = await open();
    await runtime.setServers({ evil: { ...fixture('echo'), env: { OWN: 'yes ${HOME}' } } });
    const [part] = (await runtime.callTool('evil', 'env')).content;
    expect(JSON.parse(part?.type === 'text' ? part.text : '')).toMatchObject({ OWN: 'yes ${HOME}' });
    expect(startsIn(marker)).toBe(0);
  });

  it('stops when it changes, until its user agrees again', async () => {
    const { home, projectFile, write, open } = await createSetting();
    const [first, second] = [join(home, 'first'), join(home, 'second')];
    await write(projectFile, { servers: { one: markingServer(first) } });
    const { runtime, trust, config, reload } = await open();
    await trust.agree([serverIn(config(), 'one')]);
    await reload();
    await write(projectFile, { servers: { one: markingServer(second) } });
    expect((await reload()).errors.one).toMatch(
      /its entry \((args|env|args, env)\) changed since you trusted the server/,
    );
    await expect(runtime.callTool('one', 'pid')).rejects.toMatchObject({ code: 'TRUST_REQUIRED' });
    expect([startsIn(first), startsIn(second)]).toEqual([1, 0]);
    await trust.agree([serverIn(config(), 'one')]);
    await reload();
    expect([startsIn(first), startsIn(second)]).toEqual([1, 1]);
  });

  it('runs in the project, wherever the host was started', async () => {
    const { project, projectFile, write, open } = await createSetting();
    await write(projectFile, { servers: { one: fixture('echo') } });
    await write(join(project, 'sub', 'x'), '');
    const { runtime } = await open({ cwd: join(project, 'sub'), trustProject: true });
    expect((await runtime.callTool('one', 'cwd')).content).toMatchObject([{ text: project }]);
  });

  it('is started without asking if the run allows it, and nothing is remembered', async () => {
    const { home, projectFile, write, open, load } = await createSetting();
    const marker = join(home, 'marker');
    await write(projectFile, { servers: { one: markingServer(marker) } });
    const { runtime } = await open({ trustProject: true });
    await runtime.connectAll();
    expect(startsIn(marker)).toBe(1);
    expect(serverIn(await load(), 'one').problem?.code).toBe('TRUST_REQUIRED');
  });

  it('needs agreement again in another directory', async () => {
    const { home, stateDir, projectFile, write, load } = await createSetting();
    const content = { servers: { one: { command: 'x' } } };
    await write(projectFile, content);
    await write('other/.turnbuckle/mcp.json', content);
    await new TrustStore(stateDir).agree([serverIn(await load(), 'one')]);
    expect(serverIn(await load(), 'one').problem).toBeUndefined();
    const elsewhere = await load({ cwd: join(home, 'other') });
    expect(serverIn(elsewhere, 'one').problem?.code).toBe('TRUST_REQUIRED');
  });

  it.each(['program', 'pro"gram', 'back\\slash', 'new\nline'])(
    'needs agreement again when the default of an input that it uses changes: %j',
    async (id) => {
      const { stateDir, projectFile, write, load } = await createSetting();
      const one = { command: 'x', args: [`\${input:${id}}`] };
      const content = (...inputs: object[]) => ({ inputs, servers: { one } });
      await write(projectFile, content({ id, default: 'safe' }));
      await new TrustStore(stateDir).agree([serverIn(await load(), 'one')]);
      await write(
        projectFile,
        content({ id, default: 'safe', description: 'x' }, { id: 'unused', default: 'x' }),
      );
      expect(serverIn(await load(), 'one').problem).toBeUndefined();
      await write(projectFile, content({ id, default: 'evil' }));
      expect(serverIn(await load(), 'one').problem?.code).toBe('TRUST_REQUIRED');
    },
  );
});

describe('an agreement', () => {
  const ENTRY = {
    type: 'stdio',
    command: 'x',
    args: ['a'],
    env: { K: '${V}', L: '2' },
    cwd: 'y',
    url: 'https://h',
    headers: { A: 'b' },
    auth: { kind: 'x' },
    sandbox: { network: false },
  };
  const SUBJECT: TrustSubject = { name: 'one', directory: '/p', entry: ENTRY };

  async function openStore(): Promise<{ trust: TrustStore; file: string }> {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const trust = new TrustStore(directory.path, () => 0);
    await trust.agree([SUBJECT]);
    return { trust, file: directory.file('trust.json') };
  }

  it.each<[string, unknown]>([
    ['type', 'http'],
    ['command', 'y'],
    ['args', ['a', 'b']],
    ['env', { K: 'v', L: '2' }],
    ['cwd', 'z'],
    ['url', 'https://other'],
    ['headers', { A: 'c' }],
    ['auth', { kind: 'y' }],
    ['sandbox', { network: true }],
    ['inheritEnv', ['AWS_SECRET']],
    ['baseUrl', 'https://x'],
    ['id', 'x'],
    ['token', 'x'],
  ])('is void when %s changes, is added or is removed', async (key, value) => {
    const { trust } = await openStore();
    const { [key]: _, ...without } = ENTRY as Record<string, unknown>;
    expect(await trust.isTrusted(SUBJECT)).toBe(true);
    expect(await trust.isTrusted({ ...SUBJECT, entry: { ...ENTRY, [key]: value } })).toBe(false);
    if (key in ENTRY) expect(await trust.isTrusted({ ...SUBJECT, entry: without })).toBe(false);
  });

  it.each([
    { description: 'other' },
    { callTimeoutMs: 5, connectTimeoutMs: 6 },
    { enabled: false, start: 'lazy' },
    { excludeTools: ['a'], requires: ['b'] },
    { env: { L: '2', K: '${V}' } },
  ])('holds when only %j is different', async (more) => {
    const { trust } = await openStore();
    expect(await trust.isTrusted({ ...SUBJECT, entry: { ...more, ...ENTRY, ...more } })).toBe(true);
  });

  it('is for one name in one directory', async () => {
    const { trust } = await openStore();
    expect(await trust.isTrusted({ ...SUBJECT, name: 'two' })).toBe(false);
    expect(await trust.isTrusted({ ...SUBJECT, directory: '/q' })).toBe(false);
    expect(await trust.isTrusted({ ...SUBJECT, directory: '/p/sub' })).toBe(false);
  });

  it('can be withdrawn', async () => {
    const { trust } = await openStore();
    await trust.agree([{ ...SUBJECT, name: 'two' }]);
    await trust.withdraw([SUBJECT]);
    expect(await trust.isTrusted(SUBJECT)).toBe(false);
    expect(await trust.isTrusted({ ...SUBJECT, name: 'two' })).toBe(true);
  });

  it('is stored in a file that only the user can read, without the entry', async () => {
    const { file } = await openStore();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      '["/p","one"]': {
        hash: trustHash(SUBJECT),
        keys: expect.any(Object),
        agreedAt: '1970-01-01T00:00:00.000Z',
      },
    });
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '\u0000',
    '{"[\\"/p\\",\\"one\\"]": true}',
    '{"[\\"/p\\",\\"one\\"]": {"hash": 7}}',
  ])('does not exist when the file contains %j, and can be given again', async (text) => {
    const { trust, file } = await openStore();
    await writeFile(file, text);
    expect(await trust.isTrusted(SUBJECT)).toBe(false);
    await trust.agree([SUBJECT]);
    expect(await trust.isTrusted(SUBJECT)).toBe(true);
  });

  it('of several concurrent processes is not lost', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const script = fileURLToPath(new URL('agreeing.mjs', import.meta.url));
    const agree = (prefix: string) =>
      promisify(execFile)(process.execPath, [script, directory.path, prefix, '25']);
    await Promise.all([agree('left'), agree('right')]);
    const trust = new TrustStore(directory.path);
    for (const prefix of ['left', 'right']) {
      for (let index = 0; index < 25; index += 1) {
        const subject = { name: `${prefix}-${index}`, directory: '/p', entry: { command: 'x' } };
        expect(await trust.isTrusted(subject), subject.name).toBe(true);
      }
    }
  });
});
