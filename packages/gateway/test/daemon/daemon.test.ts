import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogReader } from '@turnbuckle/store';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/tokens/token-store.js';
import { type OwnDaemon, ownDaemon } from './own-daemon.js';

let own: OwnDaemon | undefined;
afterEach(async () => {
  await own?.close();
  own = undefined;
});

const echo = (text: string) => ({ server: 'files', tool_name: 'echo', arguments: { text } });

/** The text of all files in a directory; starts over if one of them is deleted meanwhile. */
function readAll(directory: string): string {
  try {
    const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return readAll(directory);
  }
}

describe('the daemon', () => {
  it('is ready as soon as it accepts calls, even if a server never answers', async () => {
    own = await ownDaemon({
      servers: {
        files: fixture('echo'),
        silent: { command: process.execPath, args: ['-e', 'setInterval(() => {}, 60_000)'] },
      },
    });
    expect((await own.fetch('/health')).status).toBe(200);
    expect((await own.fetch('/ready')).status).toBe(200);
    expect(await own.post('/mcp/call', echo('early'))).toMatchObject({ body: { success: true } });
    expect(own.daemon.configured.runtime.serverStatus('silent').status).toBe('pending');
  });

  it('applies changes of its configuration: servers and views', async () => {
    const files = fixture('echo');
    own = await ownDaemon({ servers: { files } });
    expect((await own.post('/mcp/call', { ...echo('x'), server: 'more' })).status).toBe(404);
    expect((await own.post('/mcp/small', { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404);
    own.configure({ servers: { files, more: files }, daemon: { views: { small: { servers: ['more'] } } } });
    const here = own;
    let status = 0;
    for (let tries = 0; tries < 200 && status !== 200; tries += 1)
      ({ status } = await here.post('/mcp/call', { ...echo('x'), server: 'more' }));
    expect(status).toBe(200);
    // The view exists now: the request only lacks a session.
    expect((await own.post('/mcp/small', { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(400);
  });

  it.each([
    [undefined, 'files_echo'],
    ['mcp__server__tool', 'mcp__files__echo'],
  ])('names tools as configured (%s), and as server_tool by default', async (naming, name) => {
    own = await ownDaemon({ servers: { files: fixture('echo') }, ...(naming !== undefined && { naming }) });
    await own.daemon.configured.runtime.connectAll();
    const { tools } = (await (await own.fetch('/tools')).json()) as { tools: Array<{ name: string }> };
    expect(tools.map((tool) => tool.name)).toContain(name);
    expect(await own.post('/mcp/call', { tool_name: name, arguments: { text: 'x' } })).toMatchObject({
      body: { success: true },
    });
  });

  it('loses only the calls in flight when a server dies, and reports them', async () => {
    own = await ownDaemon({ servers: { files: fixture('echo'), other: fixture('echo') } });
    const pidOf = async (): Promise<number> => {
      const answer = await own?.post('/mcp/call', { server: 'files', tool_name: 'pid' });
      const result = answer?.body.result as { content: Array<{ text: string }> };
      return Number(result.content[0]?.text);
    };
    const pid = await pidOf();
    let hasBegun = false;
    own.daemon.configured.runtime.on('call.progress', () => {
      hasBegun = true;
    });
    const sleep = { server: 'files', tool_name: 'sleep', arguments: { ms: 60_000 } };
    const lost = own.post('/mcp/call', { ...sleep, timeout_ms: 60_000 });
    await waitUntil(() => hasBegun);
    process.kill(pid, 'SIGKILL');
    const during = own.post('/mcp/call', { ...echo('other'), server: 'other' });
    expect((await during).body).toMatchObject({ success: true });
    expect((await lost).body).toMatchObject({ success: false, error: expect.stringContaining('files') });
    expect(await pidOf()).not.toBe(pid);
  });

  it('logs every call before it sends the response, without secrets', async () => {
    const secret = `sk-live-${'Zz9'.repeat(12)}`;
    own = await ownDaemon({ servers: { files: { ...fixture('echo'), env: { API_KEY: secret } } } });
    for (let turn = 0; turn < 20; turn += 1) await own.post('/mcp/call', echo(`turn ${turn} ${secret}`));
    const kept = readAll(join(own.stateDir, 'log'));
    for (let turn = 0; turn < 20; turn += 1) expect(kept).toContain(`turn ${turn} `);
    const said = await Promise.all(
      ['/metrics', '/api/calls', '/api/servers', '/api/config', '/api/servers/files'].map(async (path) =>
        (await own?.fetch(path))?.text(),
      ),
    );
    for (const text of [kept, ...said]) expect(text).not.toContain(secret);
  });

  it('reports the process that uses the state directory', async () => {
    own = await ownDaemon({ servers: {} });
    await expect(ownDaemon({ servers: {} }, { stateDir: own.stateDir })).rejects.toMatchObject({
      code: 'DAEMON_RUNNING',
      message: expect.stringContaining(String(process.pid)),
    });
  });

  it('does not wait for approvals when it stops: such calls are denied and logged', async () => {
    own = await ownDaemon({ servers: { files: fixture('echo') } });
    const tokens = await TokenStore.open({ stateDir: own.stateDir });
    const { token } = await tokens.create({ name: 'agent', can: ['mcp_integration'], access: ['call'] });
    const { runtime } = own.daemon.configured;
    const call = own.post('/mcp/call', echo('hi'), token);
    await waitUntil(() => runtime.approvals.pending().length === 1);
    await own.daemon.close(60_000);
    expect(await call).toMatchObject({ body: { success: false, code: 'CALL_DENIED' } });
    const reader = await LogReader.open(join(own.stateDir, 'log'));
    expect(reader?.find()).toMatchObject([{ tool: 'echo', code: 'CALL_DENIED' }]);
    reader?.close();
  });

  it('finishes calls in flight before it stops', async () => {
    own = await ownDaemon({ servers: { files: fixture('echo') } });
    await own.post('/mcp/call', echo('warm'));
    const calls = Array.from({ length: 20 }, () =>
      own?.post('/mcp/call', { server: 'files', tool_name: 'sleep', arguments: { ms: 1_500 } }),
    );
    const here = own;
    await waitUntil(() => here.daemon.inFlight === 20);
    await own.daemon.close(10_000);
    for (const answer of await Promise.all(calls)) expect(answer?.body).toMatchObject({ success: true });
    await expect(own.fetch('/health')).rejects.toThrow();
  });
});
