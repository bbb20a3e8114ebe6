import { fixture, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openStage } from './api-stage.js';
import { followEvents } from './read-events.js';

const CANARY = 'canary-7d21c9b04ef3a6';
const IN_ADDRESS = 'canary-addr-55e0d1f7c3';
const ISSUED = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const INPUT = { type: 'object', properties: { password: { type: 'string', description: 'Yours' } } };

it('no answer and no event holds a secret', async () => {
  const demo = { ...fixture('echo'), env: { DEMO_TOKEN: CANARY } };
  const web = {
    url: `http://user:${IN_ADDRESS}@127.0.0.1:9/mcp?key=${IN_ADDRESS}`,
    headers: { 'x-a': CANARY },
  };
  const dying = {
    command: 'sh',
    args: ['-c', 'echo "$DEMO" >&2; echo "$DEMO"; exit 3'],
    env: { DEMO: CANARY },
    start: 'lazy',
  };
  const stage = await openStage({
    file: JSON.stringify({
      servers: { demo, web: { ...web, start: 'lazy' }, dying },
      rules: [{ action: 'ask', tool: 'add', reason: `because of ${CANARY}` }],
      secretCommand: ['print-secret', '--token', CANARY],
    }),
  });
  const { runtime, ask, log, routes } = stage;
  const following = await followEvents(stage);
  await runtime.connectAll();
  runtime.registerTool({
    name: 'leaky',
    description: `Use ${CANARY}`,
    inputSchema: INPUT,
    run: () => CANARY,
  });
  const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);
  await quietly(runtime.connect('web'));
  await runtime.callTool('demo', 'env');
  await runtime.execute('leaky', {
    password: 'hunter2-canary',
    text: Buffer.from(CANARY).toString('base64'),
  });
  for (let shift = 0; shift < 60; shift += 3)
    await runtime.callTool('demo', 'echo', { text: `${'-'.repeat(440 + shift)}${CANARY} ${ISSUED}` });
  await quietly(runtime.callTool('demo', CANARY));
  await quietly(runtime.readResource('demo', `demo://u:${ISSUED}@host/?token=${CANARY}`));
  const caller = { id: 'agent', capabilities: ['mcp_integration'] };
  const waiting = quietly(runtime.callTool('demo', 'add', { a: 1, b: 2, token: ISSUED }, { caller }));
  await runtime.pins.pin('demo', 'echo');
  await log.flush();
  const { body } = await ask('GET', '/api/calls?tool=echo&limit=1');
  const [call] = body.calls as { id: string }[];
  const names: Readonly<Record<string, string>> = {
    '/api/tools/:name': 'leaky',
    '/api/calls/:id': call?.id ?? '',
    '/api/approvals/:id': runtime.approvals.pending()[0]?.id ?? '',
  };
  const texts: string[] = [];
  for (const { path } of routes.filter(
    ({ method, path: one }) => method === 'GET' && one !== '/api/events',
  )) {
    const filled = path.replace(/:\w+/, names[path] ?? 'demo');
    const answer = await ask('GET', filled);
    expect([filled, answer.status]).toEqual([filled, 200]);
    texts.push(answer.text);
  }
  const post = async (path: string, given: unknown): Promise<void> =>
    void texts.push((await ask('POST', path, { body: given })).text);
  await post('/api/rules/test', { server: 'demo', tool: 'add', arguments: { text: CANARY } });
  await post('/api/servers', {
    name: 'extra',
    config: { ...demo, env: { A_KEY: 'canary-extra-9911' }, enabled: false },
  });
  await post('/api/servers', { name: 'wrong', config: { command: 'x', env: { A_KEY: 7 }, url: web.url } });
  await post('/api/servers/demo/reconnect', {});
  await post('/api/servers/web/connect', {});
  await post('/api/servers/dying/connect', {});
  await post('/api/servers/dying/ping', {});
  await post(`/api/calls/${call?.id}/replay`, {});
  await post('/api/config/reload', {});
  texts.push((await ask('GET', '/api/servers/dying')).text);
  texts.push((await ask('GET', '/api/servers/web')).text, (await ask('GET', '/api/config')).text);
  const env = (await ask('GET', '/api/calls?tool=env')).body.calls as { id: string }[];
  await post(`/api/calls/${env[0]?.id}/replay`, {});
  await waitUntil(() => following.text().includes('call.settled'));
  await runtime.close();
  await waiting;
  const everything = `${texts.join('\n')}\n${following.text()}`;
  expect(everything).toContain('[redacted]');
  // A schema is still shown in full, although one of its properties is named like a secret.
  expect(everything).toContain('"password":{"type":"string","description":"Yours"}');
  for (const secret of [
    CANARY,
    IN_ADDRESS,
    ISSUED,
    'canary-7d21c9',
    'canary-extra-9911',
    'hunter2-canary',
    Buffer.from(CANARY).toString('base64'),
  ]) {
    const at = everything.indexOf(secret);
    expect({ secret, found: at === -1 ? '' : everything.slice(at - 200, at + 50) }).toEqual({
      secret,
      found: '',
    });
  }
});
