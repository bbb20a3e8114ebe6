import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createHome, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest, post } from './running-daemon.js';

// requirement E5
it('energy says when a budget refills, and that others do with the daemon', async () => {
  const home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', {
    toolApprovalRequired: false,
    servers: { echo: fixture('echo') },
    energy: {
      budgets: [
        { for: 'server', server: 'echo', limit: 100 },
        { for: 'server', server: 'ec*', limit: 50, perSeconds: 3_600 },
      ],
    },
  });
  const daemon = await daemonForTest([], { home });
  const token = (await turnbuckle(['token', 'create', 'agent'], { home })).stdout.trim();
  const call = { server: 'echo', tool_name: 'echo', arguments: { text: 'hi' } };
  expect(await post({ ...daemon, token }, '/mcp/call', call)).toMatchObject({ status: 200 });
  const { stdout } = await turnbuckle(['energy'], { home });
  expect(stdout).toMatch(/of 100 .*when the daemon restarts/);
  expect(stdout).toMatch(/of 50 .*in 60 minutes/);
  expect(stdout).not.toContain('never');
});
