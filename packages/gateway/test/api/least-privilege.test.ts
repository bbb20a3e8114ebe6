/** How servers are started is shown only to admin tokens, in every part of the API. */
import { mkdir } from 'node:fs/promises';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import type { Route } from '../../src/http/route.js';
import { openStage, type Stage } from './api-stage.js';
import { followEvents } from './read-events.js';

/** Words in the configuration that are not redacted as secrets. */
const WORDS = ['quagga-arg', 'okapi-folder', 'tapir-path', 'numbat-value', 'bongo-said', 'dugong-key'];

async function openWithWords(): Promise<Stage> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const folder = home.file('okapi-folder');
  await mkdir(folder);
  const { command, args = [] } = fixture('echo') as { command: string; args?: string[] };
  const says = 'process.stderr.write("bongo-said\\n"); setTimeout(() => process.exit(3), 50)';
  const servers = {
    demo: { command, args: ['--title=quagga-arg', ...args], cwd: folder, env: { PLAIN: 'numbat-value' } },
    web: { url: 'http://127.0.0.1:9/tapir-path', headers: { 'x-plain': 'numbat-value' }, start: 'lazy' },
    dying: { command: process.execPath, args: ['-e', says, 'quagga-arg'], start: 'lazy' },
    missing: { command: `${folder}/not-there`, args: ['quagga-arg'], start: 'lazy' },
    bad: { 'dugong-key': 'quagga-arg' },
    unset: { command: 'x', args: ['quagga-arg', `\${NOT_SET_okapi}`], start: 'lazy' },
  };
  return openStage({ file: JSON.stringify({ servers, rules: [{ action: 'allow' }] }) });
}

/** The events never end, and are followed instead. */
const isStream = (route: Route): boolean => 'mediaType' in route && route.mediaType === 'text/event-stream';

/** The responses of all GET routes. */
async function readEveryRoute({ ask, routes, runtime }: Stage, token: string): Promise<Map<string, string>> {
  expect(routes.filter(isStream).map(({ path }) => path)).toEqual(['/api/events']);
  const paths = routes
    .filter((route) => route.method === 'GET' && !isStream(route) && !route.path.includes(':'))
    .map(({ path }) => path);
  const each = runtime
    .serverNames()
    .flatMap((name) => [`/api/servers/${name}`, `/api/servers/${name}/sign-in`]);
  const texts = new Map<string, string>();
  for (const path of [...paths, ...each]) texts.set(path, (await ask('GET', path, { token })).text);
  return texts;
}

it('hides how servers are started from tokens that may only read or call', async () => {
  const stage = await openWithWords();
  const { runtime, ask, token, log } = stage;
  const look = await token(['read']);
  const both = await token(['call', 'read']);
  const manager = await followEvents(stage);
  const follower = await followEvents(stage, { token: both });
  await runtime.connectAll().catch(() => {});
  for (const name of ['web', 'dying', 'missing', 'unset']) await runtime.connect(name).catch(() => {});
  await waitUntil(() => manager.text().includes('bongo-said') && manager.text().includes('server.failed'));
  await waitUntil(() => follower.events().some(({ event }) => event === 'server.failed'));
  await log.flush();
  for (const given of [look, both]) {
    const texts = await readEveryRoute(stage, given);
    expect(texts.get('/api/servers')).toContain('"demo"');
    expect(texts.get('/metrics')).toContain('"demo"');
    for (const [path, text] of texts)
      for (const word of WORDS) expect(text, `${path} tells ${word}`).not.toContain(word);
  }
  for (const word of WORDS) expect(follower.text()).not.toContain(word);
  expect(follower.events().map(({ event }) => event)).not.toContain('server.stderr');
  const { body } = await ask('GET', '/api/servers/missing', { token: look });
  expect(body).toMatchObject({
    status: 'failed',
    transport: 'stdio',
    error: {
      code: 'COMMAND_NOT_FOUND',
      message: 'Server unavailable. For details, ask the owner of the daemon.',
    },
  });
  expect(Object.keys(body)).not.toContain('config');
  expect((await ask('GET', '/api/servers/demo', { token: look })).body).toMatchObject({
    status: 'connected',
    tools: expect.arrayContaining([expect.objectContaining({ name: 'echo' })]),
  });
});

it('shows how servers are started to an admin token', async () => {
  const stage = await openWithWords();
  const token = await stage.token(['read', 'admin']);
  await stage.runtime.connect('missing').catch(() => {});
  const { body } = await stage.ask('GET', '/api/servers/demo', { token });
  expect(JSON.stringify(body.config)).toContain('quagga-arg');
  expect(body.origin).toMatchObject({ scope: 'user', file: stage.file });
  expect((await stage.ask('GET', '/api/servers/missing', { token })).text).toContain('not-there');
  expect((await stage.ask('GET', '/api/config', { token })).text).toContain('quagga-arg');
  expect((await stage.ask('GET', '/api/config', { token: await stage.token(['read']) })).status).toBe(403);
});
