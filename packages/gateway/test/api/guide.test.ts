/** Runs the examples of the guide verbatim, in order, in one shell against one daemon. */
import { readFileSync } from 'node:fs';
import { canRunApiExamples, readApiExamples, waitUntil } from '@turnbuckle/testing';
import { visit } from '@turnbuckle/testing/authorization-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GuideStage, openGuideStage } from './guide-stage.js';

type Answer = Record<string, unknown>;

const guide = readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8');
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  );
/** Those of the steward and of the agent run in their own packages. */
const isElsewhere = /\/(api\/steward|message|conversations|agent\/)/;
const examples = readApiExamples(guide).filter(({ request = '' }) => !isElsewhere.test(request));
const ADD = examples.find(({ command }) => /^api POST +\/api\/servers '/.test(command))?.command ?? '';
const hasShell = canRunApiExamples();

let stage: GuideStage;
/** Placeholders in the guide for ids that are not known in advance. */
const ids = { 'k3v9x1-42': '', '6f1c…': '' };
let approved: Promise<Answer> | undefined;
let last: Answer = {};

beforeAll(async () => {
  if (hasShell) stage = await openGuideStage();
});
afterAll(() => stage?.close());

async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(stage.daemon.url + path, {
    method,
    headers: { authorization: `Bearer ${stage.daemon.token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Answer;
}

const call = (tool: string): Promise<Answer> =>
  ask('POST', '/mcp/call', { server: 'files', tool_name: tool, arguments: { path: '/x' } });

/** What a person does before a request of the guide. */
const BEFORE_REQUEST: Readonly<Record<string, () => Promise<void>>> = {
  'GET /api/servers/web/sign-in': async () => {
    await visit(String(last.url));
    await waitUntil(async () => (await ask('GET', '/api/servers/web/sign-in')).waitingSince === undefined);
  },
  'GET /api/calls': async () => {
    await stage.runCommand(ADD);
    expect(await call('read_file')).toMatchObject({ success: true });
    await waitUntil(async () => {
      const { calls } = (await ask('GET', '/api/calls?tool=read_file')) as { calls: { id: string }[] };
      ids['k3v9x1-42'] = calls[0]?.id ?? '';
      return calls.length > 0;
    });
  },
  'GET /api/approvals': async () => {
    approved = call('write_file');
    const { approvals } = stage.daemon.configured.runtime;
    await waitUntil(() => approvals.pending().length > 0);
    ids['6f1c…'] = approvals.pending()[0]?.id ?? '';
  },
};

const files = (status: string) => expect.objectContaining({ name: 'files', status });
/** What the response to each request contains, at least. */
const ANSWERS: Readonly<Record<string, object>> = {
  'GET /api/servers': { servers: [{ name: 'web' }] },
  'GET /api/tools': { tools: [] },
  'POST /api/servers': { server: files('connected'), dangers: [] },
  'PATCH /api/servers/files': { server: { config: { callTimeoutMs: 5_000 } } },
  'POST /api/servers/files/disable': { server: files('disabled') },
  'POST /api/servers/files/enable': { server: files('connected') },
  'POST /api/servers/files/reconnect': { name: 'files', status: 'connected' },
  'DELETE /api/servers/files': { removed: 'files' },
  'POST /api/servers/web/sign-in': { state: 'waiting' },
  'GET /api/servers/web/sign-in': { signedIn: true },
  'DELETE /api/servers/web/sign-in': { found: true, revoked: true },
  'GET /api/calls': { calls: [] },
  'GET /api/calls/k3v9x1-42': { server: 'files', tool: 'read_file', outcome: 'ok' },
  'POST /api/calls/k3v9x1-42/replay': { success: true, result: { content: [{ text: 'invoice' }] } },
  'GET /api/stats': { tools: [{ server: 'files', tool: 'read_file' }] },
  'GET /api/incidents': { incidents: expect.any(Array) },
  'GET /api/servers/web/incidents': { incidents: expect.any(Array) },
  'GET /api/approvals': { approvals: [{ server: 'files', tool: 'write_file' }] },
  'GET /api/approvals/6f1c…': { server: 'files', tool: 'write_file' },
  'POST /api/approvals/6f1c…': { answer: 'once' },
  'POST /api/rules/test': { decision: { action: 'ask' } },
  'POST /api/pins/files/write_file': { pinned: ['write_file'] },
  'DELETE /api/pins/files/write_file': { unpinned: ['write_file'] },
  'GET /api/config': { layers: expect.any(Array), problems: [] },
  'POST /api/config/reload': { added: [], removed: [], changed: [] },
  'POST /api/tokens': { token: expect.any(String), facts: { name: 'prometheus', access: ['read'] } },
  'DELETE /api/tokens/prometheus': { revoked: 'prometheus' },
};

/** An answer that the guide shows, where `…` stands for some text. */
const shown = (json: string): Answer =>
  JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' && value.includes('…') ? expect.any(String) : value,
  );

describe.skipIf(!hasShell)('docs/api.md', () => {
  it('has examples, and this test has the expected response to each of their requests', () => {
    expect(examples.length).toBeGreaterThan(25);
    const requests = examples.flatMap(({ request }) => request ?? []);
    expect(new Set(requests.filter((request) => request !== 'GET /api/events'))).toEqual(
      new Set(Object.keys(ANSWERS)),
    );
  });

  const once = examples.filter(({ command }) => !command.startsWith('curl -N'));
  it.each(once)('runs: $command', async ({ command, request }) => {
    if (request === undefined) {
      expect(await stage.runCommand(command)).toBe('');
      return;
    }
    await BEFORE_REQUEST[request]?.();
    const known = Object.entries(ids).reduce((text, [id, real]) => text.replace(id, real), command);
    last = JSON.parse(await stage.runCommand(known)) as Answer;
    expect(last).toMatchObject(ANSWERS[request] ?? {});
    const [, comment] = /# (\{.*\})$/.exec(command) ?? [];
    if (comment !== undefined) expect(last).toMatchObject(shown(comment));
  });

  it('shows ids in their real form, and the approved call continues', async () => {
    expect(ids['k3v9x1-42']).toMatch(/^[\da-z]{6,}-\d+$/);
    expect(ids['6f1c…']).toMatch(/^[\da-f]{4}/);
    expect(await approved).toMatchObject({ success: true });
  });

  it('shows an error response as it is sent', async () => {
    const [refusal = ''] = blocks('json');
    expect(await ask('GET', '/api/servers/githb')).toEqual(JSON.parse(refusal));
  });

  it('lists only routes that answer in its table', async () => {
    const routes = [...guide.matchAll(/^\| `GET (\/api\/\S+)`/gm)].map(([, route = '']) => route);
    expect(routes).toHaveLength(4);
    for (const route of routes) {
      const path = route.replace(':name', 'files_read_file').replace('search=', 'search=read');
      expect(await ask('GET', path.replace('server=', 'server=files'))).not.toHaveProperty('success');
    }
  });

  it('shows what /health, /ready and /api/daemon return', async () => {
    const [, health = ''] = /`GET \/health` returns `(.+?)`/.exec(guide) ?? [];
    expect(await ask('GET', '/health')).toEqual(JSON.parse(health));
    expect(await ask('GET', '/ready')).toEqual({ status: 'ready' });
    expect(await ask('GET', '/api/daemon')).toMatchObject({
      version: '0.0.0',
      startedAt: expect.any(String),
    });
  });

  it('shows an event as it is sent', async () => {
    const [, command = '', event = ''] = /^\$ (curl -N .+\/api\/events.+)\n([\s\S]+?)```/m.exec(guide) ?? [];
    const file = stage.file('events');
    const pid = await stage.runCommand(`: > '${file}'; ${command} -s >> '${file}' & echo $!`);
    const received = (): string[] => readFileSync(file, 'utf8').split('\n\n').slice(0, -1);
    await waitUntil(async () => {
      await call('read_file');
      return received().some((text) => text.includes('call.settled'));
    });
    await stage.runCommand(`kill ${pid}`);
    const fields = (text: string): string[][] =>
      text
        .trim()
        .split('\n')
        .map((line) => line.split(/: (.*)/, 2));
    const [id = [], name, data = []] = fields(received().find((text) => text.includes('call.settled')) ?? '');
    const [shownId = [], shownName, shownData = []] = fields(event);
    const form = /^[\da-z]+-\d+$/;
    expect([id, shownId]).toEqual([
      ['id', expect.stringMatching(form)],
      ['id', expect.stringMatching(form)],
    ]);
    expect(name).toEqual(shownName);
    const { at: _, ...rest } = shown((shownData[1] ?? '').replace(', …', ''));
    expect(JSON.parse(data[1] ?? '')).toMatchObject({ ...rest, at: expect.any(String) });
  });
});
