/** The lists of the bridge: the status of each server, nothing about the machine for agents, and no secrets for any caller. */
import { fileURLToPath } from 'node:url';
import { fixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { ownDaemon } from '../daemon/own-daemon.js';

const BROKEN = {
  gone: { command: '/home/somebody/bin/not-there' },
  wrong: { url: 7 },
  odd: { command: 'node', cwd: '/srv/nowhere/at/all' },
  missing: { command: 'node', args: ['${NOT_SET_ANYWHERE}'] },
};

it('shows an agent no paths, and an admin everything', async () => {
  const own = await ownDaemon({ servers: { echo: fixture('echo'), ...BROKEN } });
  onTestFinished(() => own.close());
  await own.daemon.configured.runtime.connectAll();
  const tokenOf = async (name: string, access: string[]): Promise<string> => {
    const { body } = await own.post('/api/tokens', { name, can: ['mcp_integration'], access });
    return String(body.token);
  };
  const agent = await tokenOf('agent', ['call']);
  const manager = await tokenOf('manager', ['call', 'admin']);
  const listed = async (token?: string): Promise<string> => (await own.fetch('/servers', { token })).text();
  const seen = await listed(agent);
  for (const name of Object.keys(BROKEN)) expect(seen).toContain(`"name":"${name}"`);
  expect(seen).toContain('"code":"COMMAND_NOT_FOUND"');
  for (const secret of ['mcp.json', '/home/', '/srv/', '/tmp/', 'NOT_SET_ANYWHERE', own.stateDir])
    expect(seen).not.toContain(secret);
  for (const token of [undefined, manager]) expect(await listed(token)).toContain('/home/somebody/bin');
});

it('does not show secrets that a server repeats', async () => {
  const secret = 'canary-93be1f07ac55';
  const program = fileURLToPath(new URL('../../../core/test/auth/canary-server.mjs', import.meta.url));
  const leaking = {
    command: process.execPath,
    args: [program, 'stay'],
    env: { REPEATS_IN_LISTS: 'yes', FROM_VAULT: secret, A_KEY: secret },
  };
  const own = await ownDaemon({ servers: { leaking } });
  onTestFinished(() => own.close());
  await own.daemon.configured.runtime.connectAll();
  const { body } = await own.post('/api/tokens', {
    name: 'agent',
    can: ['mcp_integration'],
    access: ['call'],
  });
  for (const token of [undefined, String(body.token)])
    for (const path of ['/tools', '/tools?search=leak', '/resources', '/prompts', '/servers']) {
      const text = await (await own.fetch(path, { token })).text();
      expect(text).not.toContain(secret);
      if (path !== '/servers') expect(text).toContain('[redacted]');
    }
});
