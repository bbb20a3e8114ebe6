/** An approval request shows what is sent: a large value or a value outside the arguments cannot hide anything. */
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { type ApprovalAnswer, type ApprovalRequest, type Caller, createRuntime, type Rule } from 'turnbuckle';
import type { ServersInput } from 'turnbuckle/host';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { TinyServer, toolNamed } from './tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());

const caller: Caller = { id: 'agent', capabilities: ['mcp_integration'] };
const SECRET = 'Zq7Kd93mVw0bXy5LrT8sNc2PfH6jGa4';
const LARGE = { comment: 'Lists the files. '.repeat(2_200), command: 'rm -rf ~' };

async function open(answer: ApprovalAnswer, more: ServersInput = {}) {
  const asked: ApprovalRequest[] = [];
  const kept: Rule[] = [];
  const server = new TinyServer([toolNamed('run')]);
  const runtime = await createRuntime({
    stateDir: home.path,
    pins: 'off',
    servers: { files: server.config(), ...more },
    approve: (request) => {
      asked.push(request);
      return answer;
    },
    onAlways: (rule) => void kept.push(rule),
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  return { runtime, asked, kept };
}

it.each(['session', 'always'] as const)(
  '"%s" for a call that cannot be shown in full applies to that call only',
  async (answer) => {
    const { runtime, asked, kept } = await open(answer);
    const given: string[] = [];
    runtime.on('approval.answered', (event) => given.push(event.answer));
    await runtime.callTool('files', 'run', LARGE, { caller });
    await runtime.callTool('files', 'run', LARGE, { caller });
    expect(asked).toHaveLength(2);
    expect(given).toEqual(['once', 'once']);
    expect(kept).toEqual([]);
    expect(asked[0]).toMatchObject({
      isCut: true,
      answers: ['once', 'deny'],
      arguments: { command: 'rm -rf ~' },
    });
    expect(asked[0]?.notShown?.characters).toBeGreaterThan(4_000);
    expect(asked[0]?.notShown?.members).toBe(0);
    // For a call that is shown in full it applies, and the request is not marked as cut.
    await runtime.callTool('files', 'run', { command: 'ls' }, { caller });
    await runtime.callTool('files', 'run', { command: 'ls -l' }, { caller });
    expect(asked).toHaveLength(3);
    expect(asked[2]).not.toHaveProperty('isCut');
  },
);

it('shows what is sent in addition to the arguments, without secrets, and counts what does not fit', async () => {
  const { runtime, asked } = await open('once');
  const sent = {
    extraParams: { task: { ttl: 60_000 } },
    meta: { 'example/payload': 'in _meta' },
    inputResponses: {
      confirm: { action: 'accept', content: { really: true, apiKey: 'sk-live-0123456789' } },
    },
    requestState: 'state',
  };
  await runtime.callTool('files', 'run', { a: 1 }, { caller, ...sent });
  await runtime.callTool('files', 'run', { a: 1 }, { caller, requestState: 'x'.repeat(20_000) });
  await runtime.callTool('files', 'run', { a: 1 }, { caller });
  const [all, long, none] = asked;
  expect(all?.alsoSent).toEqual({
    task: { ttl: 60_000 },
    _meta: { 'example/payload': 'in _meta' },
    inputResponses: { confirm: { action: 'accept', content: { really: true, apiKey: '[redacted]' } } },
    requestState: 'state',
  });
  expect(all).not.toHaveProperty('isCut');
  expect(long).toMatchObject({ isCut: true, answers: ['once', 'deny'] });
  expect(none).not.toHaveProperty('alsoSent');
});

it('a reused arguments object is checked again', async () => {
  const { runtime } = await open('once', { echo: { ...fixture('echo'), env: { API_TOKEN: SECRET } } });
  const args: Record<string, unknown> = { x: 'a'.repeat(100_000), list: [] };
  await runtime.callTool('files', 'run', args, { caller });
  args.x = SECRET;
  await expect(runtime.callTool('files', 'run', args, { caller })).rejects.toMatchObject({
    code: 'CALL_DENIED',
  });
  args.x = 'a'.repeat(100_000);
  await runtime.callTool('files', 'run', args, { caller });
  args.list = [SECRET];
  await expect(runtime.callTool('files', 'run', args, { caller })).rejects.toMatchObject({
    code: 'CALL_DENIED',
  });
});
