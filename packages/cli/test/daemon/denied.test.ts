/** Only the host and the owner learn which rule denied a call; agents do not. */
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHome, type Home, turnbuckle } from '../commands/turnbuckle.js';
import { post, type RunningDaemon, startDaemon } from './running-daemon.js';

let home: Home;
let daemon: RunningDaemon;
beforeAll(async () => {
  home = await createHome();
  await home.write('.config/turnbuckle/mcp.json', {
    servers: { echo: fixture('echo') },
    rules: [
      { action: 'deny', tool: 'add', arguments: { a: { equals: 1 } } },
      { action: 'deny', kind: 'resource', tool: 'notes://*' },
      { action: 'allow' },
    ],
  });
  daemon = await startDaemon([], { home });
});
afterAll(() => daemon.stop('SIGKILL'));

const LINES: ReadonlyArray<readonly [line: string, next: string]> = [
  ['call echo add a=1 b=2', 'turnbuckle rules test echo add'],
  ['read echo notes://x', 'turnbuckle rules test echo notes://x --kind resource'],
];

it.each(
  LINES.flatMap(
    ([line, next]) =>
      [
        [line, next],
        [`${line} --no-daemon`, next],
      ] as const,
  ),
)('the host sees the location of the rule and a next step: %s', async (line, next) => {
  const { code, stderr } = await turnbuckle(line.split(' '), { home });
  expect(code).toBe(15);
  expect(stderr).toContain('CALL_DENIED');
  expect(stderr).toMatch(new RegExp(`Rule: ${home.config}:\\d+\\. `));
  expect(stderr).toContain(`To see why: ${next}`);
});

it('an agent learns the reason and nothing more, whichever way it comes', async () => {
  const { stdout } = await turnbuckle(['token', 'create', 'agent'], { home });
  const agent = { url: daemon.url, token: stdout.trim() };
  const call = { server: 'echo', tool_name: 'add', arguments: { a: 1, b: 2 } };
  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const answers = [
    await post(agent, '/mcp/call', call),
    await post(agent, '/mcp/calls', { calls: [call] }),
    await post(agent, '/mcp', rpc('tools/call', { name: 'echo_add', arguments: { a: 1, b: 2 } })),
  ].map(({ body }) => JSON.stringify(body));
  answers.push((await turnbuckle(['call', 'echo', 'add', 'a=1', 'b=2', '--as', 'agent'], { home })).stderr);
  for (const answer of answers) {
    expect(answer).not.toContain('mcp.json');
    expect(answer).not.toContain('rules test');
  }
  for (const answer of [answers[0], answers[1], answers[3]]) expect(answer).toContain('CALL_DENIED');
});
