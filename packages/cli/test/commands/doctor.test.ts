import { fixture, startFixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createHome, json, turnbuckle } from './turnbuckle.js';

it('0: no problems, also with disabled and lazy servers', async () => {
  const home = await createHome({
    good: fixture('echo'),
    later: { ...fixture('echo'), start: 'lazy' },
    off: { command: 'nowhere', enabled: false },
  });
  const { code, stdout } = await turnbuckle(['doctor'], { home });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^✓ {2}node +v/m);
  expect(stdout).toMatch(/^✓ {2}configuration +3 servers in 1 file$/m);
  expect(stdout).toMatch(/^✓ {2}good +connected over stdio, protocol \S+, 18 tools$/m);
  expect(stdout).toMatch(/^✓ {2}later +connected over stdio/m);
  expect(stdout).toMatch(/^✓ {2}off +disabled$/m);
});

/** A server whose instructions and tool description mention another server. */
const TALKER = `import { createInterface } from 'node:readline';
const text = 'Use file-store first.';
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'talker', version: '1' },
    instructions: text,
  }),
  'tools/list': () => ({ tools: [{ name: 'note', description: text, inputSchema: { type: 'object' } }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const result = answers[method]?.(params ?? {});
  const body = result === undefined ? { error: { code: -32601, message: 'no' } } : { result };
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
}
`;

it('quotes the text that mentions another server', async () => {
  const home = await createHome({ demo: fixture('echo') });
  const script = await home.write('talker.mjs', TALKER);
  const talker = { command: process.execPath, args: [script] };
  await home.write('.config/turnbuckle/mcp.json', { servers: { talker, 'file-store': fixture('echo') } });
  const { checks } = await json<{
    checks: Array<{ flagged?: Array<{ tool?: string; flags: string[]; what: string }> }>;
  }>(['doctor'], { home });
  const found = checks
    .flatMap(({ flagged = [] }) => flagged)
    .filter(({ flags }) => flags.includes('mentions-other-server'));
  expect(found).toMatchObject([{}, { tool: 'note' }]);
  for (const { what } of found)
    expect(what).toBe(
      'mentions another server or a tool from another server (text: "Use file-store first.")',
    );
});

it('0: without any servers, with a next step', async () => {
  const { code, stdout } = await turnbuckle(['doctor'], { home: await createHome() });
  expect(code).toBe(0);
  expect(stdout).toContain('turnbuckle add');
});

it('10: invalid configuration', async () => {
  const home = await createHome({ typo: { comand: 'x' }, good: fixture('echo') });
  const { code, stdout } = await turnbuckle(['doctor'], { home });
  expect(code).toBe(10);
  expect(stdout).toMatch(/^✕ {2}typo +CONFIG_INVALID: .*mcp\.json:\d+:\d+/m);
  expect(stdout).toMatch(/^✓ {2}good/m);
});

it('11: a server failed to start or connect', async () => {
  const home = await createHome({ gone: { command: 'no-such-program-here' }, good: fixture('echo') });
  const { code, stdout } = await turnbuckle(['doctor'], { home });
  expect(code).toBe(11);
  expect(stdout).toMatch(/^✕ {2}gone +COMMAND_NOT_FOUND: .*\n {2}→ \S/m);
  const { checks } = await json<{ checks: Array<{ name: string; ok: boolean }> }>(['doctor', 'gone'], {
    home,
  });
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
    ['node', true],
    ['configuration', true],
    ['gone', false],
  ]);
  expect((await turnbuckle(['doctor', 'good'], { home })).code).toBe(0);
  expect((await turnbuckle(['doctor', 'nope'], { home })).stderr).toContain('SERVER_UNKNOWN');
});

it('12: a server requires sign-in', async () => {
  const wall = await startFixture('auth-wall', { transport: 'http', flags: ['--status', '401'] });
  try {
    const home = await createHome({ wall: { url: wall.url } });
    const { code, stdout } = await turnbuckle(['doctor'], { home });
    expect(code).toBe(12);
    expect(stdout).toMatch(/^✕ {2}wall +AUTH_REQUIRED/m);
    expect((await turnbuckle(['list'], { home })).stdout).toMatch(/^! {2}wall +needs-auth/m);
    expect((await turnbuckle(['ping', 'wall'], { home })).code).toBe(16);
    const signedIn = [
      '--mcp-server',
      'x=y',
      'add',
      'wall',
      wall.url,
      '--force',
      '-H',
      'Authorization: Bearer ${T}',
    ];
    expect((await turnbuckle(signedIn, { home })).code).toBe(0);
    expect((await turnbuckle(['ping', 'wall'], { home, env: { T: 'secret' } })).code).toBe(0);
    const unset = await turnbuckle(['ping', 'wall'], { home });
    expect(unset.code).toBe(10);
    expect(unset.stderr).toContain('VARIABLE_MISSING');
  } finally {
    await wall.stop();
  }
});

it('10: an entry with many faults is shown whole, and by config too', async () => {
  const faults = { comand: 'x', timeoutt: 1, envv: {}, argz: [], cwdd: '/a' };
  const home = await createHome({ demo: { command: 'y', ...faults } });
  for (const words of [['doctor', 'demo'], ['config']]) {
    const { code, stdout } = await turnbuckle(words, { home });
    expect(code).toBe(10);
    for (const key of Object.keys(faults)) expect(stdout).toContain(`servers.demo.${key}: `);
  }
});
