/** Secrets of servers and of the model are in no prompt, file, answer or event, although a server and a user repeat them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { scriptOf } from '../../../steward/test/daemon/hostile-servers.js';
import type { Json } from '../../../steward/test/daemon/stage.js';
import { type AgentStage, obedient, openAgentStage } from './agent-stage.js';

const SERVER_KEY = 'canary-50c1a9e7b3d284';
const MODEL_KEY = 'canary-e2f6610b97ac45';
/** As they are, in part, and in base64. */
const FORMS = [SERVER_KEY, MODEL_KEY].flatMap((key) => [
  key,
  key.slice(0, 15),
  Buffer.from(key).toString('base64').slice(0, -4),
]);
const holds = (text: string): boolean => FORMS.some((form) => text.includes(form));

/** Repeats its key in results, errors, descriptions and on stderr. */
const LEAKING = scriptOf({
  tools: [
    { name: 'tell_key', text: 'Tell the key.' },
    { name: 'fail_key', text: 'Fail with the key.' },
  ],
  start: "console.error('key', process.env.DEMO_KEY);",
  onRequest: `const key = process.env.DEMO_KEY;
  if (method === 'tools/list') tools[0].description = 'The key is ' + key;
  if (method === 'tools/call' && params.name === 'tell_key')
    return answer(id, { content: [{ type: 'text', text: 'key ' + key + ' ' + Buffer.from(key).toString('base64') }] });
  if (method === 'tools/call')
    return process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'bad ' + key } }) + '\\n');`,
}).replace(/^#!.*\n/, '');

async function readEverything(stage: AgentStage, conversation: string): Promise<string[]> {
  const paths = ['/conversations', `/conversations/${conversation}`, '/agent/stats'];
  const api = ['steward', 'steward/requests', 'incidents', 'servers', 'calls', 'tools', 'approvals', 'pins'];
  const texts: string[] = [];
  for (const path of [...paths, ...api.map((one) => `/api/${one}`)]) {
    const { status, body } = await stage.api('GET', path);
    expect([path, status]).toEqual([path, 200]);
    texts.push(JSON.stringify(body));
  }
  return texts;
}

// requirement E7, K2
it('no prompt, file, answer or event of the agent holds a secret', async () => {
  const stage = await openAgentStage({
    script: obedient,
    environment: { DEMO_KEY: SERVER_KEY, MODEL_KEY },
    modelKey: '${MODEL_KEY}',
    config: {
      servers: {
        demo: { command: process.execPath, args: ['-e', LEAKING], env: { DEMO_KEY: '${DEMO_KEY}' } },
      },
      rules: [{ action: 'allow', server: '*' }],
    },
  });
  const events = new AbortController();
  const texts: string[] = [];
  try {
    await waitUntil(async () =>
      ((await stage.api('GET', '/api/tools')).body.tools as Json[]).some(({ server }) => server === 'demo'),
    );
    const headers = { authorization: `Bearer ${stage.daemon.token}` };
    const stream = await fetch(`${stage.daemon.url}/api/events`, { headers, signal: events.signal });
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const part of stream.body ?? []) texts.push(decoder.decode(part as Uint8Array));
    })().catch(() => undefined);
    const id = await stage.say('call demo_tell_key {}');
    expect(await stage.reply(id, 'result')).toContain('[redacted]');
    await stage.say('call demo_fail_key {}', id);
    await stage.reply(id, 'SERVER_ERROR');
    await stage.say(`The key is ${SERVER_KEY}, remember it.`, id);
    await stage.reply(id, 'remember it');
    await stage.say(`call demo_tell_key ${JSON.stringify({ note: SERVER_KEY })}`, id);
    await waitUntil(
      async () => (await stage.messages(id)).filter(({ kind }) => kind === 'reply').length === 4,
    );
    texts.push(...(await readEverything(stage, id)), ...stage.prompts);
    expect(stage.keys.length).toBeGreaterThan(0);
    expect(new Set(stage.keys)).toEqual(new Set([`Bearer ${MODEL_KEY}`]));
    await stage.restart();
    events.abort();
    await reading;
    expect(texts.join('')).toContain('agent.conversation');
    expect(texts.filter(holds)).toEqual([]);
    const files = readdirSync(stage.home.path, { recursive: true, encoding: 'utf8' })
      .map((path) => stage.home.file(path))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
    expect(files.some((file) => file.endsWith('work.db'))).toBe(true);
    expect(files.filter((file) => holds(readFileSync(file, 'latin1')))).toEqual([]);
  } finally {
    events.abort();
    await stage.close();
  }
});
