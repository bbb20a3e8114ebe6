/** Runs the examples of the steward in docs/api.md verbatim, in order, in one shell against one daemon. */
import { mkdirSync, readFileSync } from 'node:fs';
import { canRunApiExamples, readApiExamples, Shell } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesRecord, type Json, openStewardStage, type StewardStage } from './stage.js';

const guide = readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8');
const all = readApiExamples(guide);
const examples = all.filter(({ request }) => request?.includes('/api/steward'));
const defineApi = all.find(({ command }) => command.startsWith('api() {'))?.command ?? '';

const hasShell = canRunApiExamples();
let stage: StewardStage;
let shell: Shell;
/** Placeholders in the guide for ids that are not known in advance. */
const ids = { '0b7d…': '', '6f1c…': '' };

beforeAll(async () => {
  if (!hasShell) return;
  const root = { name: 'ROOT', isRequired: true, description: 'The directory of the notes' };
  stage = await openStewardStage({ records: [filesRecord({ environmentVariables: [root] })] });
  mkdirSync(stage.home.file('notes'));
  const { url, token } = stage.daemon;
  shell = new Shell({ PATH: process.env.PATH, TURNBUCKLE: url, TOKEN: token }, stage.home.path);
  await shell.runCommand(defineApi);
});
afterAll(async () => {
  shell?.end();
  await stage?.close();
});

/** What the response to each request contains, at least. */
const ANSWERS: Readonly<Record<string, object>> = {
  'POST /api/steward/requests': { requestId: expect.stringMatching(/^[\da-f]{4}/) },
  'GET /api/steward/requests': { requests: expect.any(Array) },
  'GET /api/steward/requests/0b7d…': { state: expect.any(String), progress: expect.any(Number) },
  'POST /api/steward/requests/0b7d…/cancel': { requestId: expect.any(String) },
  'GET /api/steward/approvals': { approvals: [{ fields: [{ name: 'ROOT' }] }] },
  'POST /api/steward/approvals/6f1c…': { id: expect.stringMatching(/^[\da-f]{4}/) },
  'POST /api/steward/pause': { paused: true, stopped: false },
  'GET /api/steward': { enabled: true, paused: true, stopped: false, isActive: expect.any(Boolean) },
};

/** What happens before a request of the guide. */
const BEFORE_REQUEST: Readonly<Record<string, () => Promise<void>>> = {
  'GET /api/steward/approvals': async () => {
    const id = await stage.request('add_server', { registryName: 'io.github.acme/files' });
    ids['6f1c…'] = String((await stage.approval(id)).id);
  },
};

// requirement E1
describe.skipIf(!hasShell)('docs/api.md, the steward', () => {
  it('has examples, and this test has the expected response to each of their requests', () => {
    expect(new Set(examples.map(({ request }) => request))).toEqual(new Set(Object.keys(ANSWERS)));
  });

  it.each(examples)('runs: $command', async ({ command, request = '' }) => {
    await BEFORE_REQUEST[request]?.();
    const known = Object.entries(ids).reduce((text, [id, real]) => text.replace(id, real), command);
    const answer = JSON.parse(await shell.runCommand(known)) as Json;
    expect(answer).toMatchObject(ANSWERS[request] ?? {});
    if (request === 'POST /api/steward/requests') ids['0b7d…'] = String(answer.requestId);
  });
});
