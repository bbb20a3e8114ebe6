import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { attempt, confined, createStage, factsOf } from './stage.js';

describe('the file system of a server in a sandbox', () => {
  confined('shows its directory read-only, and no other files of the user', async () => {
    const { open, home, project, outside } = await createStage();
    const runtime = await open('standard');
    expect(await attempt(runtime, 'read', { path: join(project, 'file') })).toEqual({
      done: 'in the project',
    });
    expect(await attempt(runtime, 'write', { path: join(project, 'file') })).toEqual({ failed: 'EROFS' });
    expect(await attempt(runtime, 'write', { path: join(project, 'more') })).toEqual({ failed: 'EROFS' });
    // The directories that lead to the program itself are there, and empty otherwise.
    const homes = ['/root', '/home'].filter((path) => !process.execPath.startsWith(`${path}/`));
    for (const path of [join(outside, 'file'), join(home, '.ssh', 'id'), '/etc/shadow', ...homes])
      expect(await attempt(runtime, 'read', { path })).toEqual({ failed: 'ENOENT' });
    expect(await attempt(runtime, 'list', { path: home })).toEqual({ done: ['project'] });
    for (const path of [
      join(outside, 'file'),
      '/etc/new',
      '/usr/new',
      '/new',
      '/dev/new',
      '/proc/sys/kernel/x',
    ])
      expect(await attempt(runtime, 'write', { path })).toHaveProperty('failed');
    expect((await factsOf(runtime)).directory).toBe(project);
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('outside');
  });

  confined('has its own /tmp', async () => {
    const { open } = await createStage();
    const runtime = await open('standard');
    expect(await attempt(runtime, 'list', { path: '/tmp' })).not.toMatchObject({
      done: expect.arrayContaining(['bash']),
    });
    expect(await attempt(runtime, 'write', { path: '/tmp/own', text: 'x' })).toEqual({ done: null });
    expect(await attempt(runtime, 'read', { path: '/tmp/own' })).toEqual({ done: 'x' });
    await expect(readFile('/tmp/own')).rejects.toThrow('ENOENT');
  });

  confined('allows reading and writing of listed paths, and of everything in them', async () => {
    const { open, project, outside } = await createStage();
    await mkdir(join(project, 'data'));
    const runtime = await open({ read: ['server.mjs', outside], write: ['data'] });
    expect(await attempt(runtime, 'read', { path: join(outside, 'file') })).toEqual({ done: 'outside' });
    expect(await attempt(runtime, 'write', { path: join(outside, 'file') })).toEqual({ failed: 'EROFS' });
    expect(await attempt(runtime, 'write', { path: join(project, 'data', 'a') })).toEqual({ done: null });
    expect(await readFile(join(project, 'data', 'a'), 'utf8')).toBe('written inside');
    expect(await attempt(runtime, 'read', { path: join(project, 'file') })).toEqual({ failed: 'ENOENT' });
    expect(runtime.serverStatus('probe').sandbox).toMatchObject({
      inForce: true,
      read: [join(project, 'server.mjs'), outside],
      write: [join(project, 'data')],
    });
  });

  confined('an empty list is nothing, never everything', async () => {
    const { open, project, server } = await createStage();
    const program = join(project, 'server.mjs');
    for (const sandbox of [
      { read: [], write: [] },
      { preset: 'strict' as const, read: [], write: [] },
    ]) {
      // Not even the server's own program is visible.
      const refused = await open({ ...sandbox, read: [] });
      expect(refused.serverStatus('probe').status).toBe('failed');
      const runtime = await open({ ...sandbox, read: [program] });
      expect(await attempt(runtime, 'list', { path: project })).toEqual({ done: ['server.mjs'] });
      expect(await attempt(runtime, 'list', { path: '/etc' })).not.toMatchObject({
        done: expect.arrayContaining(['shadow']),
      });
    }
    expect(server({ read: [] })).toMatchObject({ sandbox: { read: [] } });
  });

  confined('with the preset strict shows only listed paths of its directory', async () => {
    const { open, project } = await createStage();
    const runtime = await open({ preset: 'strict', read: ['server.mjs'] });
    expect(await attempt(runtime, 'read', { path: join(project, 'file') })).toEqual({ failed: 'ENOENT' });
    // The project is in the home directory: a file written there is in the private home of the server, which is removed with it.
    await attempt(runtime, 'write', { path: join(project, 'file') });
    expect(await readFile(join(project, 'file'), 'utf8')).toBe('in the project');
  });

  confined('a link resolves inside the sandbox', async () => {
    const { open, project, outside } = await createStage();
    await symlink('/etc/shadow', join(project, 'shadow'));
    await symlink(join(outside, 'file'), join(project, 'leak'));
    await mkdir(join(project, 'data'));
    const runtime = await open({ read: ['.'], write: ['data'] });
    for (const name of ['shadow', 'leak'])
      expect(await attempt(runtime, 'read', { path: join(project, name) })).toEqual({ failed: 'ENOENT' });
    const path = join(project, 'data', 'link');
    expect(await attempt(runtime, 'link', { path, to: join(outside, 'file') })).toEqual({ done: null });
    expect(await attempt(runtime, 'write', { path })).toHaveProperty('failed');
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('outside');
  });

  confined('a listed link shows its target, at the path of the link', async () => {
    const { open, project, outside } = await createStage();
    await symlink(outside, join(project, 'shared'));
    const runtime = await open({ read: ['server.mjs', 'shared'] });
    expect(await attempt(runtime, 'read', { path: join(project, 'shared', 'file') })).toEqual({
      done: 'outside',
    });
  });

  confined('a listed link inside a listed directory works, too', async () => {
    const { open, project, outside } = await createStage();
    await symlink(outside, join(project, 'shared'));
    const runtime = await open({ read: ['.', 'shared'] });
    expect(await attempt(runtime, 'read', { path: join(project, 'shared', 'file') })).toEqual({
      done: 'outside',
    });
    const writable = await open({ write: ['.'], read: ['shared'] });
    expect(await attempt(writable, 'write', { path: join(project, 'shared', 'file') })).toEqual({
      failed: 'EROFS',
    });
  });

  confined('`~` is the home of the user', async () => {
    const { open, home, project } = await createStage();
    await mkdir(join(home, 'notes'));
    await writeFile(join(home, 'notes', 'a'), 'a note');
    const runtime = await open({ read: [project, '~/notes'] });
    expect(await attempt(runtime, 'read', { path: join(home, 'notes', 'a') })).toEqual({ done: 'a note' });
    expect(await attempt(runtime, 'read', { path: join(home, '.ssh', 'id') })).toEqual({ failed: 'ENOENT' });
  });
});

describe('the home directory of a server in a sandbox', () => {
  confined('is its own, and kept between runs', async () => {
    const { open, home } = await createStage();
    const first = await open(true);
    expect(await attempt(first, 'write', { path: join(home, 'kept'), text: 'x' })).toEqual({ done: null });
    await first.close();
    const second = await open('offline');
    expect(await attempt(second, 'read', { path: join(home, 'kept') })).toEqual({ done: 'x' });
    await expect(readFile(join(home, 'kept'))).rejects.toThrow('ENOENT');
  });

  confined('a link that the server left there redirects nothing', async () => {
    const { open, home, project } = await createStage();
    await mkdir(join(home, 'notes'));
    await writeFile(join(home, 'notes', 'a'), 'a note');
    const first = await open(true);
    expect(await attempt(first, 'link', { path: join(home, 'notes'), to: '/tmp' })).toEqual({ done: null });
    await first.close();
    const second = await open({ read: [project, '~/notes'] });
    expect(await attempt(second, 'read', { path: join(home, 'notes', 'a') })).toEqual({ done: 'a note' });
    expect(await attempt(second, 'list', { path: '/tmp' })).not.toEqual({ done: ['a'] });
  });

  confined('is an error if the state directory is not writable', async () => {
    const { open, outside } = await createStage();
    const stateDir = join(outside, 'file', 'state');
    const { error } = (await open(true, { stateDir })).serverStatus('probe');
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', hint: expect.stringContaining('"home"') });
    expect((await open({ home: 'empty' }, { stateDir })).serverStatus('probe').status).toBe('connected');
  });

  confined('is removed with it if it is configured as empty', async () => {
    const { open, home } = await createStage();
    for (let run = 0; run < 2; run += 1) {
      const runtime = await open({ home: 'empty' });
      expect(await attempt(runtime, 'read', { path: join(home, 'kept') })).toEqual({ failed: 'ENOENT' });
      expect(await attempt(runtime, 'write', { path: join(home, 'kept') })).toEqual({ done: null });
      await runtime.close();
    }
  });

  confined('is not shown if the server is started in it', async () => {
    const { environment, home, stateDir, open, server } = await createStage();
    const runtime = await open('standard');
    await runtime.setServers({
      probe: { ...server('standard'), args: [join(home, 'project', 'server.mjs')], cwd: home },
    });
    // The program is in the home directory, so it must be listed.
    expect(runtime.serverStatus('probe')).toMatchObject({
      status: 'failed',
      error: { code: 'CONFIG_INVALID', hint: expect.stringContaining('"read"') },
    });
    await runtime.setServers({
      probe: {
        ...server({ read: ['project'] }),
        args: [join(home, 'project', 'server.mjs')],
        cwd: home,
      },
    });
    expect(await attempt(runtime, 'list', { path: home })).toEqual({ done: ['project'] });
    expect(environment.HOME).toBe(home);
    expect(stateDir).not.toBe(home);
  });
});
