import { existsSync } from 'node:fs';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStage } from './api-stage.js';

describe('reading servers', () => {
  it('shows their status', async () => {
    const { ask, runtime } = await openStage();
    await runtime.connectAll();
    const { body } = await ask('GET', '/api/servers');
    expect(body.servers).toMatchObject([
      { name: 'demo', status: 'connected', transport: 'stdio', description: 'A demo' },
    ]);
    const one = await ask('GET', '/api/servers/demo');
    expect(one.body).toMatchObject({
      name: 'demo',
      status: 'connected',
      origin: { scope: 'user', line: 4 },
      serverInfo: { name: expect.any(String) },
      pid: expect.any(Number),
    });
    expect(JSON.stringify(one.body.tools)).toContain('"echo"');
    expect(await ask('GET', '/api/servers/nobody')).toMatchObject({
      status: 404,
      body: { success: false, code: 'SERVER_UNKNOWN' },
    });
  });

  it('names the files of the configuration only to who may manage', async () => {
    const file = '{ "servers": { "bad": { "commnd": "x" }, "demo": { "command": "true" } } }';
    const { ask, token } = await openStage({ file });
    const look = { token: await token(['read']) };
    for (const name of ['demo', 'bad']) {
      const whole = (await ask('GET', `/api/servers/${name}`)).body;
      const path = (whole.origin as { file: string }).file;
      expect(path).toContain('/');
      const part = await ask('GET', `/api/servers/${name}`, look);
      expect(part.body.origin).toBeUndefined();
      expect(part.text).not.toContain(path);
      expect((await ask('GET', '/api/servers', look)).text).not.toContain(path);
    }
  });

  it('reports the problem of an entry', async () => {
    const { ask } = await openStage({ file: '{ "servers": { "bad": { "commnd": "x" } } }' });
    const { body } = await ask('GET', '/api/servers/bad');
    expect(body).toMatchObject({ status: 'failed', error: { code: 'CONFIG_INVALID' } });
  });
});

describe('connecting and disconnecting servers', () => {
  it('connects, pings, refreshes, reconnects and disconnects', async () => {
    const { ask } = await openStage();
    const act = async (word: string): Promise<unknown> =>
      (await ask('POST', `/api/servers/demo/${word}`)).body;
    expect(await act('connect')).toMatchObject({ status: 'connected' });
    const first = (await ask('GET', '/api/servers/demo')).body.pid;
    expect(await act('ping')).toMatchObject({ alive: true });
    expect(await act('refresh')).toMatchObject({ status: 'connected', pid: first });
    expect(await act('reconnect')).toMatchObject({ status: 'connected' });
    expect((await ask('GET', '/api/servers/demo')).body.pid).not.toBe(first);
    expect(await act('disconnect')).toMatchObject({ state: 'disconnected' });
    expect(await ask('POST', '/api/servers/demo/connect', { body: { now: true } })).toMatchObject({
      status: 422,
      body: { code: 'ARGUMENTS_INVALID' },
    });
  });

  it('reports why a server does not start', async () => {
    const { ask } = await openStage({
      file: '{ "servers": { "gone": { "command": "/no/such/program", "start": "lazy" } } }',
    });
    const { status, body } = await ask('POST', '/api/servers/gone/connect');
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'COMMAND_NOT_FOUND' });
  });
});

describe('changing servers', () => {
  it("adds a server to the user's config file, keeps its comments, and starts it", async () => {
    const { ask, written, file, changes, runtime } = await openStage();
    const config = { ...fixture('echo'), env: { API_KEY: 'very-secret-value' } };
    const { status, body } = await ask('POST', '/api/servers', { body: { name: 'more', config } });
    expect({ status, file: body.file }).toEqual({ status: 200, file });
    expect(body.server).toMatchObject({ name: 'more', status: 'connected' });
    expect(body.entry).toMatchObject({ env: { API_KEY: '[redacted]' } });
    expect(written()).toContain('// Mine.');
    expect(written()).toContain('// keep me');
    expect(written()).toContain('very-secret-value');
    expect(changes.count).toBe(1);
    expect(runtime.serverNames()).toEqual(['demo', 'more']);
    const again = await ask('POST', '/api/servers', { body: { name: 'more', config } });
    expect({ status: again.status, code: again.body.code }).toEqual({ status: 409, code: 'NAME_TAKEN' });
  });

  it('does not take the name of a server that the host added', async () => {
    const { ask, written, runtime } = await openStage();
    await runtime.addServer('added', { ...fixture('echo'), start: 'lazy' });
    const before = written();
    const taken = await ask('POST', '/api/servers', { body: { name: 'added', config: fixture('echo') } });
    expect(taken).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } });
    expect(await ask('DELETE', '/api/servers/added')).toMatchObject({ body: { code: 'CONFIG_INVALID' } });
    expect(written()).toBe(before);
  });

  it('lists the dangers of a new server', async () => {
    const { ask } = await openStage();
    const config = { command: 'bash', args: ['-c', 'true'], enabled: false };
    const { body } = await ask('POST', '/api/servers', { body: { name: 'shell', config } });
    expect(body.dangers).toEqual([expect.stringContaining('runs code from the command line')]);
  });

  it.each([
    ['no object', 'x', 422],
    ['nothing to run', { name: 'bad', config: {} }, 400],
    ['a wrong key', { name: 'bad', config: { command: 'x', argz: [] } }, 400],
    ['an odd name', { name: ' bad ', config: { command: 'x' } }, 400],
    ['a reserved name', { name: 'native', config: { command: 'x' } }, 400],
    ['a command of several words', { name: 'bad', config: { command: 'npx -y some-server' } }, 422],
    ['a URL as the command', { name: 'bad', config: { command: 'https://x.example/mcp' } }, 422],
    ['an in-process server', { name: 'bad', config: { type: 'in-process', server: {} } }, 422],
    ['a redacted value', { name: 'bad', config: { command: 'x', env: { A: '[redacted]' } } }, 422],
    ['another key', { name: 'bad', config: { command: 'x' }, force: true }, 422],
  ])('writes nothing for %s', async (_what, body, status) => {
    const { ask, written, runtime } = await openStage();
    const before = written();
    const answer = await ask('POST', '/api/servers', { body: JSON.stringify(body) });
    expect(answer.status).toBe(status);
    expect(written()).toBe(before);
    expect(runtime.serverNames()).toEqual(['demo']);
  });

  it('starts no server that it rejects, or that a token without the needed access requests', async () => {
    const { ask, token } = await openStage();
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const trace = directory.file('trace');
    const config = { command: 'touch', args: [trace] };
    const answers = [
      await ask('POST', '/api/servers', { body: { name: 'x', config }, token: '' }),
      await ask('POST', '/api/servers', {
        body: { name: 'x', config },
        token: await token(['call', 'read']),
      }),
      await ask('POST', '/api/servers', {
        body: { name: 'x', config },
        token: await token(['call', 'read', 'admin'], ['mcp_demo']),
      }),
      await ask('POST', '/api/servers', { body: { name: 'x', config: { ...config, wrong: 1 } } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 403, 400]);
    expect(existsSync(trace)).toBe(false);
  });

  it('changes, disables, enables and removes a server', async () => {
    const { ask, written, runtime } = await openStage();
    const patched = await ask('PATCH', '/api/servers/demo', {
      body: { description: null, callTimeoutMs: 5_000, enabled: false },
    });
    expect(patched.body.server).toMatchObject({ status: 'disabled', config: { callTimeoutMs: 5_000 } });
    expect(written()).toContain('// keep me');
    expect(written()).not.toContain('A demo');
    const back = await ask('PATCH', '/api/servers/demo', { body: { enabled: null } });
    expect(back.body.server).toMatchObject({ status: 'connected' });
    await ask('PATCH', '/api/servers/demo', { body: { enabled: false } });
    const on = await ask('POST', '/api/servers/demo/enable');
    expect(on.body.server).toMatchObject({ status: 'connected' });
    const off = await ask('POST', '/api/servers/demo/disable');
    expect(off.body.server).toMatchObject({ status: 'disabled' });
    const wrong = await ask('PATCH', '/api/servers/demo', { body: { callTimeoutMs: 'long' } });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'CONFIG_INVALID' } });
    expect((await ask('PATCH', '/api/servers/demo', { body: {} })).status).toBe(422);
    expect((await ask('DELETE', '/api/servers/demo')).body).toMatchObject({ removed: 'demo' });
    expect(runtime.serverNames()).toEqual([]);
    expect(written()).toContain('// Mine.');
  });

  it('does not change a server of a project', async () => {
    const { ask, configured, file } = await openStage();
    const project = file.replace('.config/turnbuckle/mcp.json', 'work/.turnbuckle/mcp.json');
    const { mkdir, writeFile } = await import('node:fs/promises');
    await mkdir(project.replace('/mcp.json', ''));
    await writeFile(project, '{ "servers": { "theirs": { "command": "x", "enabled": false } } }');
    await configured.reload();
    await waitUntil(() => configured.runtime.serverNames().includes('theirs'));
    for (const [method, path] of [
      ['DELETE', '/api/servers/theirs'],
      ['POST', '/api/servers/theirs/enable'],
    ] as const)
      expect(await ask(method, path)).toMatchObject({ status: 400, body: { code: 'CONFIG_INVALID' } });
    const taken = await ask('POST', '/api/servers', { body: { name: 'theirs', config: { command: 'y' } } });
    expect(taken.body.code).toBe('NAME_TAKEN');
  });
});
