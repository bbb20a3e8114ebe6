import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { createHome, json, turnbuckle } from './turnbuckle.js';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
const sandboxed = { ...fixture('echo'), sandbox: { preset: 'offline', read: [REPOSITORY] } };
const BUBBLEWRAP = 'bwrap';
const canConfine =
  process.platform === 'linux' &&
  spawnSync(BUBBLEWRAP, ['--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0;

describe.skipIf(!canConfine)('a server in a sandbox (needs bubblewrap)', () => {
  it('doctor shows the limits of the sandbox, and the sandbox program of the machine', async () => {
    const home = await createHome({ boxed: sandboxed, free: fixture('echo') });
    const { code, stdout } = await turnbuckle(['doctor'], { home });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ {2}sandbox +bubblewrap \d/m);
    expect(stdout).toMatch(
      /^✓ {2}boxed +sandbox offline: network off; reads \S+; writes nothing; .*2048 MB/m,
    );
    expect(stdout).not.toMatch(/free +sandbox/);
  });

  it('list marks it, and --json has the details', async () => {
    const home = await createHome({ boxed: sandboxed, free: fixture('echo') });
    const { stdout } = await turnbuckle(['list'], { home });
    expect(stdout).toMatch(/^● {2}boxed .*user, sandbox offline/m);
    expect(stdout).toMatch(/^● {2}free .*user {2,}/m);
    const servers = await json<Array<{ name: string; sandbox: unknown }>>(['list'], { home });
    expect(servers.map(({ name, sandbox }) => [name, sandbox])).toEqual([
      ['boxed', expect.objectContaining({ preset: 'offline', inForce: true, network: false })],
      ['free', 'none'],
    ]);
  });
});

describe.skipIf(process.platform !== 'linux')('where bubblewrap is not installed', () => {
  const env = { PATH: '/nowhere' };

  it('doctor says what to install when a server uses a sandbox', async () => {
    const home = await createHome({ boxed: sandboxed });
    const { code, stdout } = await turnbuckle(['doctor'], { home, env });
    expect(code).toBe(11);
    expect(stdout).toMatch(
      /^✕ {2}sandbox +bubblewrap \(bwrap\) is not installed\n {2}→ Install the package/m,
    );
    expect(stdout).toMatch(/^✕ {2}boxed +SANDBOX_UNAVAILABLE/m);
    expect(stdout).toMatch(/^✕ {2}boxed +sandbox offline \(requested, not active\)/m);
  });

  it('doctor reports no fault when no server uses a sandbox', async () => {
    const { code, stdout } = await turnbuckle(['doctor'], {
      home: await createHome({ free: fixture('echo') }),
      env,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ {2}sandbox .* \(no configured server uses a sandbox\)$/m);
  });

  it('a call fails with its own code', async () => {
    const home = await createHome({ boxed: sandboxed });
    const { code, stderr } = await turnbuckle(['call', 'boxed', 'echo', 'text=hello'], { home, env });
    expect(code).toBe(26);
    expect(stderr).toContain('SANDBOX_UNAVAILABLE');
  });
});
