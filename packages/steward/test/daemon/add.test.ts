import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { filesRecord, type Json, openStewardStage, type StewardStage } from './stage.js';

let stage: StewardStage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const packages = (): string[] =>
  stage !== undefined && existsSync(stage.packageRoot) ? readdirSync(stage.packageRoot) : [];

// requirement E3, E4
describe('adding a server', () => {
  it('finds, asks, installs, tests and enables it, and its tool can be called', async () => {
    stage = await openStewardStage();
    const id = await stage.request('add_server', { purpose: 'count the words of files' });
    const approval = await stage.approval(id);
    const { summary, details } = approval.subject as { summary: string; details: string[] };
    expect(summary).toBe('Installing @acme/server-files 1.2.3 as server "files"');
    expect(details.join('\n')).toContain(process.execPath);
    expect(details.join('\n')).toContain(stage.npm.integrityOf('@acme/server-files', '1.2.3'));
    expect(packages()).toEqual([]);
    expect(stage.config()).not.toHaveProperty('servers');
    expect((await stage.answer(String(approval.id), 'yes')).status).toBe(200);
    let status = await stage.until(id, 'completed', 'failed', 'approval');
    if (status.waitingFor === 'approval') {
      // Without a sandbox on this machine the test has a warning, which is a question of its own.
      const warned = await stage.approval(id);
      expect((warned.subject as Json).action).toBe('enable');
      await stage.answer(String(warned.id), 'yes');
      status = await stage.until(id, 'completed', 'failed');
    }
    expect(status).toMatchObject({ state: 'completed', progress: 100 });
    expect(status.energyConsumed).toBeGreaterThanOrEqual(5);
    expect(Object.keys(stage.config().servers as Json)).toEqual(['files']);
    const call = { server: 'files', tool_name: 'count_words', arguments: { text: 'one two three' } };
    await expect.poll(async () => (await stage?.api('POST', '/mcp/call', call))?.status).toBe(200);
    const { body } = await stage.api('POST', '/mcp/call', call);
    expect(JSON.stringify(body)).toContain('3');
    // What was tested is pinned.
    await expect.poll(async () => (await stage?.api('GET', '/api/pins'))?.body.pins).toHaveLength(2);
  });

  it('installs nothing without a yes', async () => {
    stage = await openStewardStage();
    const id = await stage.request('add_server', { registryName: 'io.github.acme/files' });
    const approval = await stage.approval(id);
    await stage.answer(String(approval.id), 'no');
    const status = await stage.until(id, 'failed', 'completed');
    expect(status).toMatchObject({ state: 'failed', error: { code: 'CALL_DENIED' } });
    expect(packages()).toEqual([]);
    expect(stage.config()).not.toHaveProperty('servers');
    const again = await stage.answer(String(approval.id), 'yes');
    expect(again.status).toBe(404);
  });

  it('refuses what no rule allows, and says which rule would', async () => {
    stage = await openStewardStage({ settings: { allow: [] } });
    const id = await stage.request('add_server', { purpose: 'files' });
    const status = await stage.until(id, 'failed', 'completed');
    expect(status).toMatchObject({ state: 'failed', error: { code: 'CALL_DENIED' } });
    expect((status.error as Json).hint).toContain('"@acme/server-files"');
    expect(stage.npm.requests).toEqual([]);
  });

  it('puts secrets into the vault and nowhere else', async () => {
    const record = filesRecord({
      environmentVariables: [{ name: 'FILES_KEY', isSecret: true, isRequired: true, description: 'The key' }],
    });
    stage = await openStewardStage({ records: [record] });
    const id = await stage.request('add_server', { purpose: 'files' });
    const approval = await stage.approval(id);
    expect((await stage.answer(String(approval.id), 'yes')).body).toMatchObject({
      code: 'ARGUMENTS_INVALID',
    });
    const secret = 'canary-5c0e7d31f2';
    expect((await stage.answer(String(approval.id), 'yes', { FILES_KEY: secret })).status).toBe(200);
    let status = await stage.until(id, 'completed', 'failed', 'approval');
    if (status.waitingFor === 'approval') {
      await stage.answer(String((await stage.approval(id)).id), 'yes');
      status = await stage.until(id, 'completed', 'failed');
    }
    expect(status.state).toBe('completed');
    expect(JSON.stringify(stage.config())).toContain('${secret:');
    const call = { server: 'files', tool_name: 'whoami', arguments: {} };
    await expect.poll(async () => (await stage?.api('POST', '/mcp/call', call))?.status).toBe(200);
    const files = readdirSync(stage.home.path, { recursive: true, encoding: 'utf8' })
      .map((path) => stage?.home.file(path) ?? '')
      .filter((path) => !path.includes('vault'));
    for (const file of files) {
      let text = '';
      try {
        text = readFileSync(file, 'latin1');
      } catch {
        continue;
      }
      expect(text.includes(secret), file).toBe(false);
    }
    expect(JSON.stringify(status)).not.toContain(secret);
  });

  it('goes on after a restart of the daemon while it waits', async () => {
    stage = await openStewardStage();
    const id = await stage.request('add_server', { purpose: 'files' });
    const before = await stage.approval(id);
    await stage.restart();
    const after = await stage.approval(id);
    expect(after.id).toBe(before.id);
    await stage.answer(String(after.id), 'yes');
    const status = await stage.until(id, 'completed', 'failed', 'approval');
    expect(['completed', 'in_progress']).toContain(status.state);
  });

  it('leaves nothing when it is cancelled while it waits', async () => {
    stage = await openStewardStage();
    const id = await stage.request('add_server', { purpose: 'files' });
    await stage.approval(id);
    await stage.api('POST', `/api/steward/requests/${id}/cancel`, { reason: 'changed my mind' });
    const status = await stage.until(id, 'cancelled');
    expect(status.state).toBe('cancelled');
    expect(packages()).toEqual([]);
    expect((await stage.api('GET', '/api/steward/approvals')).body).toEqual({ approvals: [] });
  });
});

describe('other requests', () => {
  it('search proposes, test reports, modify and remove ask first', async () => {
    stage = await openStewardStage();
    const search = await stage.request('search_servers', { purpose: 'count words' });
    const found = await stage.until(search, 'completed', 'failed');
    expect(found.result).toMatchObject({ candidates: [{ name: 'io.github.acme/files', kinds: ['npm'] }] });
    expect(found.energyConsumed).toBeGreaterThanOrEqual(20);
    const add = await stage.request('add_server', { purpose: 'files' });
    await stage.answer(String((await stage.approval(add)).id), 'yes');
    if ((await stage.until(add, 'completed', 'approval')).state !== 'completed') {
      await stage.answer(String((await stage.approval(add)).id), 'yes');
      await stage.until(add, 'completed');
    }
    const test = await stage.request('test_server', { serverName: 'files' });
    const tested = await stage.until(test, 'completed', 'failed');
    expect(tested).toMatchObject({
      state: 'completed',
      result: { report: { sandboxed: expect.any(Boolean) } },
    });
    const modify = await stage.request('modify_server', {
      serverName: 'files',
      changes: { description: 'Words' },
    });
    const asked = await stage.approval(modify);
    expect((asked.subject as Json).details).toEqual(['+ description: "Words"']);
    await stage.answer(String(asked.id), 'yes');
    expect(await stage.until(modify, 'completed', 'failed')).toMatchObject({ state: 'completed' });
    expect((stage.config().servers as Record<string, Json>).files?.description).toBe('Words');
    const remove = await stage.request('remove_server', { serverName: 'files' });
    await stage.answer(String((await stage.approval(remove)).id), 'yes');
    expect(await stage.until(remove, 'completed', 'failed')).toMatchObject({
      state: 'completed',
      result: { serverName: 'files', uninstalled: true },
    });
    expect(stage.config().servers ?? {}).toEqual({});
    expect(packages()).toEqual([]);
  });

  it('are invalid with a clear error', async () => {
    stage = await openStewardStage();
    const { status, body } = await stage.api('POST', '/api/steward/requests', {
      type: 'remove_server',
      params: { server: 'files' },
    });
    expect(status).toBe(422);
    expect(body.code).toBe('ARGUMENTS_INVALID');
    const unknown = await stage.request('test_server', { serverName: 'nope' });
    expect(await stage.until(unknown, 'failed')).toMatchObject({ error: { code: 'SERVER_UNKNOWN' } });
  });
});

describe('a server of a project that nobody trusts', () => {
  it('is not started by a test', async () => {
    stage = await openStewardStage();
    const started = stage.home.file('started');
    mkdirSync(stage.home.file('.turnbuckle'));
    const evil = {
      command: process.execPath,
      args: ['-e', `fs.writeFileSync(${JSON.stringify(started)}, '')`],
    };
    writeFileSync(stage.home.file('.turnbuckle/mcp.json'), JSON.stringify({ servers: { evil } }));
    const id = await stage.request('test_server', { serverName: 'evil' });
    const status = await stage.until(id, 'failed', 'completed');
    expect(status).toMatchObject({ state: 'failed', error: { code: 'TRUST_REQUIRED' } });
    expect(existsSync(started)).toBe(false);
  });
});

describe('a directory that a person gives in an approval', () => {
  it('can be used by the server, also in its sandbox', async () => {
    const record = filesRecord({
      packageArguments: [
        { type: 'positional', valueHint: 'root', isRequired: true, description: 'The directory' },
      ],
    });
    stage = await openStewardStage({ records: [record] });
    const directory = stage.home.file('notes');
    mkdirSync(directory);
    const id = await stage.request('add_server', { purpose: 'files' });
    const approval = await stage.approval(id);
    const [field] = approval.fields as { name: string }[];
    const answered = await stage.answer(String(approval.id), 'yes', { [field?.name ?? '']: directory });
    expect(answered.status).toBe(200);
    let status = await stage.until(id, 'completed', 'failed', 'approval');
    if (status.waitingFor === 'approval') {
      await stage.answer(String((await stage.approval(id)).id), 'yes');
      status = await stage.until(id, 'completed', 'failed');
    }
    expect(status).toMatchObject({ state: 'completed' });
    const { args, sandbox } = (stage.config().servers as Record<string, Json>).files ?? {};
    expect(args).toContain(directory);
    if (sandbox !== undefined) expect(sandbox).toMatchObject({ write: [directory] });
  });
});
