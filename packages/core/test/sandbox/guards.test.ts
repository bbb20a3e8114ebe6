import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { attempt, confined, createStage } from './stage.js';

const GUARDED = ['.turnbuckle', '.claude', '.cursor', '.vscode', '.git'];
const GUARDED_FILES = ['mcp-servers.json', '.mcp.json'];

describe('in a directory that a server may write', () => {
  confined('configuration of agents, editors and Git cannot be made where it is absent', async () => {
    const { open, project } = await createStage();
    const runtime = await open({ read: [], write: ['.'] });
    expect(await attempt(runtime, 'write', { path: join(project, 'file') })).toEqual({ done: null });
    for (const name of GUARDED) {
      const path = join(project, name);
      expect(await attempt(runtime, 'write', { path: join(path, 'mcp.json') })).toEqual({ failed: 'EROFS' });
      expect(await attempt(runtime, 'makeDirectory', { path: join(path, 'hooks') })).toHaveProperty('failed');
      expect(await attempt(runtime, 'remove', { path })).toHaveProperty('failed');
      expect(await attempt(runtime, 'rename', { from: path, to: join(project, 'aside') })).toEqual({
        failed: 'EBUSY',
      });
      expect(await readdir(path)).toEqual([]);
    }
    for (const name of GUARDED_FILES) {
      const path = join(project, name);
      expect(await attempt(runtime, 'write', { path })).toEqual({ failed: 'EROFS' });
      expect(await attempt(runtime, 'remove', { path })).toHaveProperty('failed');
      const before = join(project, 'prepared');
      await attempt(runtime, 'write', { path: before });
      expect(await attempt(runtime, 'rename', { from: before, to: path })).toEqual({ failed: 'EBUSY' });
      expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(
        name === '.mcp.json' ? { mcpServers: {} } : {},
      );
    }
  });

  confined('existing configuration can be read but not changed', async () => {
    const { open, project } = await createStage();
    await mkdir(join(project, '.turnbuckle'));
    await mkdir(join(project, '.git', 'hooks'), { recursive: true });
    await writeFile(join(project, '.turnbuckle', 'mcp.json'), '{ "servers": {} }');
    const runtime = await open({ write: ['.'] });
    const path = join(project, '.turnbuckle', 'mcp.json');
    expect(await attempt(runtime, 'read', { path })).toEqual({ done: '{ "servers": {} }' });
    expect(await attempt(runtime, 'write', { path })).toEqual({ failed: 'EROFS' });
    expect(await attempt(runtime, 'remove', { path })).toHaveProperty('failed');
    expect(await attempt(runtime, 'write', { path: join(project, '.git', 'hooks', 'pre-commit') })).toEqual({
      failed: 'EROFS',
    });
  });

  confined('a repository can be listed, but its hooks and config stay read-only', async () => {
    const { open, project } = await createStage();
    const git = join(project, '.git');
    await mkdir(git);
    await writeFile(join(git, 'config'), '[core]');
    const runtime = await open({ write: ['.', '.git'] });
    expect(await attempt(runtime, 'write', { path: join(git, 'HEAD') })).toEqual({ done: null });
    expect(await attempt(runtime, 'write', { path: join(git, 'hooks', 'post-checkout') })).toEqual({
      failed: 'EROFS',
    });
    expect(await attempt(runtime, 'write', { path: join(git, 'config') })).toEqual({ failed: 'EROFS' });
    expect(await attempt(runtime, 'rename', { from: git, to: join(project, 'git') })).toEqual({
      failed: 'EBUSY',
    });
  });

  confined('a guarded name that is a link is rejected: it could be replaced', async () => {
    const { open, project, outside } = await createStage();
    await symlink(outside, join(project, '.claude'));
    const { status, error } = (await open({ write: ['.'] })).serverStatus('probe');
    expect(status).toBe('failed');
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('.claude') });
  });
});

describe('a mount inside a writable directory', () => {
  confined('cannot be replaced by renaming a directory above it', async () => {
    const { open, project } = await createStage();
    await mkdir(join(project, 'a', 'b', 'docs'), { recursive: true });
    const runtime = await open({ read: ['a/b/docs'], write: ['.'] });
    expect(await attempt(runtime, 'write', { path: join(project, 'a', 'b', 'docs', 'x') })).toEqual({
      failed: 'EROFS',
    });
    for (const name of ['a', 'a/b', 'a/b/docs']) {
      const from = join(project, name);
      expect(await attempt(runtime, 'rename', { from, to: `${from}-aside` })).toEqual({ failed: 'EBUSY' });
    }
    expect(await attempt(runtime, 'write', { path: join(project, 'a', 'b', 'x') })).toEqual({ done: null });
  });

  confined('does not make the directories between them writable', async () => {
    const { open, project } = await createStage();
    await mkdir(join(project, 'a', 'b', 'c'), { recursive: true });
    const runtime = await open({ read: ['a'], write: ['.', 'a/b/c'] });
    for (const name of ['a/x', 'a/b/x'])
      expect(await attempt(runtime, 'write', { path: join(project, name) })).toEqual({ failed: 'EROFS' });
    expect(await attempt(runtime, 'write', { path: join(project, 'a/b/c/x') })).toEqual({ done: null });
  });

  confined.each(['there', 'absent'])('cannot be a directory in PATH: one that is %s', async (state) => {
    const { open, project } = await createStage();
    const bin = join(project, 'tools', 'bin');
    if (state === 'there') await mkdir(bin, { recursive: true });
    const environment = { PATH: `${bin}:${process.env.PATH}` };
    const runtime = await open({ write: ['.'] }, { environment });
    expect(await attempt(runtime, 'write', { path: join(bin, 'bwrap') })).toEqual({ failed: 'EROFS' });
    const from = join(project, 'tools');
    expect(await attempt(runtime, 'rename', { from, to: join(project, 'aside') })).toEqual({
      failed: 'EBUSY',
    });
    const listed = await open({ write: ['tools/bin'] }, { environment });
    expect(listed.serverStatus('probe').error?.message).toContain(
      'is a directory in your PATH, or is inside one',
    );
  });

  confined('cannot be a directory in PATH behind a link', async () => {
    const { open, project, outside } = await createStage();
    await symlink(outside, join(project, 'tools'));
    const environment = { PATH: `${join(project, 'tools')}:${process.env.PATH}` };
    const { error } = (await open({ write: ['.'] }, { environment })).serverStatus('probe');
    expect(error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('symbolic link'),
    });
  });
});

describe('Turnbuckle’s own files', () => {
  confined('are never visible in listed paths, whether they exist or not', async () => {
    const { open, home, project } = await createStage();
    const state = join(home, '.local', 'state', 'turnbuckle');
    const config = join(home, '.config', 'turnbuckle');
    const environment = { XDG_CONFIG_HOME: join(home, '.config') };
    await mkdir(join(home, '.config'));
    await mkdir(join(home, '.local', 'share'), { recursive: true });
    await mkdir(state, { recursive: true });
    await writeFile(join(state, 'trust.json'), 'agreements');
    const runtime = await open(
      { read: [project], write: ['~/.local', '~/.config'] },
      { environment, stateDir: state },
    );
    expect(runtime.serverStatus('probe').error).toBeUndefined();
    const agreements = join(state, 'trust.json');
    expect(await attempt(runtime, 'read', { path: agreements })).toEqual({ failed: 'ENOENT' });
    expect(await attempt(runtime, 'write', { path: agreements })).toEqual({ failed: 'EROFS' });
    // If the directories above could be moved, they could be replaced by ones with other agreements.
    for (const from of [state, join(home, '.local', 'state')])
      expect(await attempt(runtime, 'rename', { from, to: `${from}-aside` })).toEqual({ failed: 'EBUSY' });
    expect(await attempt(runtime, 'write', { path: join(config, 'mcp.json') })).toEqual({ failed: 'EROFS' });
    expect(await attempt(runtime, 'write', { path: join(home, '.local', 'share', 'x') })).toEqual({
      done: null,
    });
    expect(await readFile(agreements, 'utf8')).toBe('agreements');
    expect(existsSync(join(config, 'mcp.json'))).toBe(false);
  });

  confined.each(['there', 'absent'])('cannot be changed where packages are installed: %s', async (when) => {
    const { open, home, project } = await createStage();
    const state = join(home, '.local', 'state', 'turnbuckle');
    const packages = `${state}-servers`;
    const file = join(packages, 'files-1.0.0', 'server.js');
    await mkdir(when === 'there' ? join(file, '..') : state, { recursive: true });
    if (when === 'there') await writeFile(file, 'as approved');
    const runtime = await open({ read: [project], write: ['~/.local'] }, { stateDir: state });
    expect(runtime.serverStatus('probe').error).toBeUndefined();
    expect(await attempt(runtime, 'write', { path: when === 'there' ? file : join(packages, 'x') })).toEqual({
      failed: 'EROFS',
    });
    expect(await attempt(runtime, 'rename', { from: packages, to: `${packages}-aside` })).toEqual({
      failed: 'EBUSY',
    });
    if (when === 'absent') return;
    const own = await open({ read: [project, join(file, '..')] }, { stateDir: state });
    expect(await attempt(own, 'read', { path: file })).toEqual({ done: 'as approved' });
    for (const place of [packages, join(file, '..')]) {
      const listed = await open({ write: [place] }, { stateDir: state });
      expect(listed.serverStatus('probe').error?.message).toContain('has the packages of installed servers');
    }
  });

  confined.each([
    ['the state directory', { read: ['../../state'] }],
    ['something in it', { read: ['../../state/sandbox'] }],
    ['a project’s configuration, to write', { write: ['.turnbuckle'] }],
    ['a file of it', { write: ['mcp-servers.json'] }],
    ['the home directory, to write', { write: ['~'] }],
    ['a parent of the home directory, to write', { write: ['../..'] }],
    ['the whole file system', { read: ['/'] }],
    ['the whole file system, to write', { write: ['/'] }],
    ['/proc', { read: ['/proc'] }],
    ['devices', { write: ['/dev/shm'] }],
    ['a link to a forbidden path', { write: ['to-home'] }],
  ])('cannot be listed: %s', async (_, sandbox) => {
    const { open, home, project, stateDir } = await createStage();
    await mkdir(join(stateDir, 'sandbox'), { recursive: true });
    await mkdir(join(project, '.turnbuckle'));
    await writeFile(join(project, 'mcp-servers.json'), '{}');
    await symlink(home, join(project, 'to-home'));
    const { status, error, pid } = (await open(sandbox)).serverStatus('probe');
    expect({ status, code: error?.code, pid }).toEqual({
      status: 'failed',
      code: 'CONFIG_INVALID',
      pid: undefined,
    });
  });
});
