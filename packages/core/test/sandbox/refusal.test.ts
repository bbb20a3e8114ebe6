import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { checkSandbox } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { toSandboxPolicy } from '../../src/config/schema/sandbox-schema.js';
import { BUBBLEWRAP, confined, createStage, type Stage } from './stage.js';

const run = promisify(execFile);

/** The server would create a file if it were started in any way. */
async function openMarked(stage: Stage, path: string) {
  const runtime = await stage.open('standard', { environment: { PATH: path } });
  const { status, error, pid, sandbox } = runtime.serverStatus('probe');
  return { runtime, status, code: error?.code, message: error?.message, hint: error?.hint, pid, sandbox };
}

/** A program of that name in its own directory. */
async function fake(stage: Stage, name: string, script: string): Promise<string> {
  const directory = join(stage.outside, `with-${name}`);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(directory, name), 0o755);
  return directory;
}

const onLinux = it.skipIf(process.platform !== 'linux');

// requirement C11
describe('a server that asks for a sandbox is not started without one', () => {
  onLinux('if bubblewrap is not installed', async () => {
    const stage = await createStage();
    const { runtime, ...found } = await openMarked(stage, join(stage.outside, 'empty'));
    expect(found).toEqual({
      status: 'failed',
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('bubblewrap (bwrap) is not installed'),
      hint: expect.stringMatching(/Install the package bubblewrap .* remove "sandbox" from/),
      pid: undefined,
      sandbox: expect.objectContaining({ inForce: false, preset: 'standard' }),
    });
    await expect(runtime.callTool('probe', 'facts')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    await runtime.setServers({ probe: stage.server(undefined) });
    expect(runtime.serverStatus('probe')).toMatchObject({ status: 'connected', sandbox: 'none' });
  });

  onLinux('if prlimit is not installed', async () => {
    const stage = await createStage();
    const found = await openMarked(stage, await fake(stage, 'bwrap', 'exit 0'));
    expect(found).toMatchObject({ code: 'SANDBOX_UNAVAILABLE', hint: expect.stringContaining('util-linux') });
  });

  onLinux.each([
    ['fails', 'echo "bwrap: No permissions to create new namespace" >&2; exit 1', 'No permissions'],
    ['does nothing', 'exit 0', 'did not run'],
  ])('if bubblewrap is installed and %s', async (_, script, reason) => {
    const stage = await createStage();
    const directories = [await fake(stage, 'bwrap', script), '/usr/bin', '/bin'];
    const found = await openMarked(stage, directories.join(delimiter));
    expect(found).toMatchObject({ code: 'SANDBOX_UNAVAILABLE', pid: undefined });
    expect(found.message).toContain(reason);
  });

  onLinux('a bubblewrap of the project is not used', async () => {
    const stage = await createStage();
    const bin = join(stage.project, 'bin');
    await mkdir(bin);
    for (const name of ['bwrap', 'prlimit']) {
      await writeFile(join(bin, name), '#!/bin/sh\nexit 0\n');
      await chmod(join(bin, name), 0o755);
    }
    const found = await openMarked(stage, ['bin', '', '.'].join(delimiter));
    expect(found.message).toContain('is not installed');
  });

  it('on a platform without sandboxes', async () => {
    const { findSandboxSupport } = await import('../../src/connection/sandbox/sandbox-support.js');
    expect(await findSandboxSupport({ environment: process.env, network: true, platform: 'darwin' })).toEqual(
      {
        available: false,
        reason: 'sandboxes are not supported on darwin',
        hint: expect.any(String),
      },
    );
  });

  confined('once bubblewrap works, the next attempt uses it', async () => {
    const stage = await createStage();
    const permission = join(stage.outside, 'allowed');
    const real = (await run('which', [BUBBLEWRAP])).stdout.trim();
    const script = `[ -e ${permission} ] || { echo "bwrap: not allowed" >&2; exit 1; }; exec ${real} "$@"`;
    const path = [await fake(stage, 'bwrap', script), '/usr/bin', '/bin'].join(delimiter);
    const { runtime, message } = await openMarked(stage, path);
    expect(message).toContain('not allowed');
    await writeFile(permission, '');
    await runtime.reconnect('probe');
    expect(runtime.serverStatus('probe')).toMatchObject({ status: 'connected', sandbox: { inForce: true } });
  });
});

describe('checkSandbox', () => {
  onLinux('reports what to install', async () => {
    expect(await checkSandbox({ PATH: '/nowhere' })).toEqual({
      available: false,
      reason: 'bubblewrap (bwrap) is not installed',
      hint: expect.stringContaining('bubblewrap'),
    });
  });

  confined('reports what is installed', async () => {
    expect(await checkSandbox()).toMatchObject({
      available: true,
      version: expect.stringMatching(/^bubblewrap \d/),
    });
  });
});

describe('presets', () => {
  it('true is the standard preset, false is none', () => {
    expect(toSandboxPolicy(true)).toEqual(toSandboxPolicy('standard'));
    expect(toSandboxPolicy({})).toEqual(toSandboxPolicy('standard'));
    expect(toSandboxPolicy(false)).toBeUndefined();
    expect(toSandboxPolicy(undefined)).toBeUndefined();
  });

  it.each(['strict', 'offline'] as const)('%s has no network', (preset) => {
    expect(toSandboxPolicy(preset)?.network).toBe(false);
  });

  it('a configured key replaces that of the preset, even with an empty list', () => {
    expect(toSandboxPolicy({ preset: 'standard', read: [], network: false })).toMatchObject({
      read: [],
      write: [],
      network: false,
      home: 'own',
    });
    expect(toSandboxPolicy({ preset: 'strict', network: true, memoryMb: 512 })).toMatchObject({
      network: true,
      memoryMb: 512,
      read: [],
    });
  });
});
