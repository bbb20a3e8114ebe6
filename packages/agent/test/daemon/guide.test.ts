/** Runs the examples of the agent in docs/api.md verbatim, in order, in one shell against one daemon. */
import { readFileSync } from 'node:fs';
import {
  canRunApiExamples,
  readApiExamples,
  Shell,
  temporaryDirectory,
  waitUntil,
} from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentDaemon, startAgentDaemon } from './agent-daemon.js';

const guide = readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8');
const all = readApiExamples(guide);
const examples = all.filter(({ request = '' }) => /\/(message|conversations|agent\/)/.test(request));
const defineApi = all.find(({ command }) => command.startsWith('api() {'))?.command ?? '';

const ID = '6f1c…';
const hasShell = canRunApiExamples();
let agent: AgentDaemon;
let shell: Shell;
let home: Awaited<ReturnType<typeof temporaryDirectory>>;
let conversation = '';

beforeAll(async () => {
  if (!hasShell) return;
  home = await temporaryDirectory();
  agent = await startAgentDaemon({ script: () => ({ text: 'Nothing today.' }) });
  const { url, token } = agent.daemon;
  shell = new Shell({ PATH: process.env.PATH, TURNBUCKLE: url, TOKEN: token }, home.path);
  await shell.runCommand(defineApi);
});
afterAll(async () => {
  shell?.end();
  await agent?.close();
  await home?.remove();
});

/** What the response to each request contains, at least. */
const ANSWERS: Readonly<Record<string, object>> = {
  'POST /message': { conversation: expect.any(String), message: expect.any(Number) },
  'GET /conversations': { conversations: [{ id: expect.any(String) }] },
  [`GET /conversations/${ID}`]: { messages: expect.any(Array) },
  [`POST /conversations/${ID}/end`]: { state: 'ended' },
  'GET /agent/stats': { energy: { level: expect.any(Number) } },
};
const EVENTS = `GET /conversations/${ID}/events`;

// requirement E7
describe.skipIf(!hasShell)('docs/api.md, the agent', () => {
  it('has examples, and this test has the expected response to each of their requests', () => {
    expect(new Set(examples.map(({ request }) => request))).toEqual(
      new Set([...Object.keys(ANSWERS), EVENTS]),
    );
  });

  const once = examples.filter(({ request }) => request !== EVENTS);
  it.each(once)('runs: $command', async ({ command, request = '' }) => {
    const answer: unknown = JSON.parse(await shell.runCommand(command.replace(ID, conversation)));
    expect(answer).toMatchObject(ANSWERS[request] ?? {});
    if (request === 'POST /message') conversation = (answer as { conversation: string }).conversation;
  });

  it('streams the messages of a conversation', async () => {
    await waitUntil(async () => (await agent.replies(conversation)).length > 0);
    const stream = examples.find(({ request }) => request === EVENTS)?.command ?? '';
    const known = stream.replace(ID, conversation).replace('after=3', 'after=0');
    const shown = await shell.runCommand(known.replace('curl -N', 'curl -sN --max-time 1'));
    expect(shown).toContain('Nothing today.');
  });
});
