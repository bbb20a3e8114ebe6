/** A person approves exactly what is sent: a large argument hides nothing, and nothing else is sent with it. */
import type { ApprovalRequest } from 'turnbuckle';
import { afterEach, describe, expect, it } from 'vitest';
import type { OwnDaemon } from '../daemon/own-daemon.js';
import type { Upstream } from '../threats/upstream.js';
import { type ApprovalStage, openApprovalStage } from './approval-stage.js';

let stage: ApprovalStage;
let server: Upstream;
let own: OwnDaemon;

async function open(daemon: object = {}): Promise<void> {
  stage = await openApprovalStage(daemon);
  ({ server, own } = stage);
}
afterEach(() => stage.close());

const LARGE = { comment: 'Lists the files. '.repeat(2_200), command: 'rm -rf ~' };

const connect: ApprovalStage['connect'] = (era, capabilities) => stage.connect(era, capabilities);

async function question(): Promise<ApprovalRequest> {
  const pending = () => own.daemon.configured.runtime.approvals.pending();
  await expect.poll(() => pending().length).toBe(1);
  const answer = await own.fetch('/api/approvals');
  const { approvals } = (await answer.json()) as { approvals: [ApprovalRequest] };
  return approvals[0];
}

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  it('gets no more than one call approved when not all of it can be shown', async () => {
    await open();
    const client = await connect(era);
    const calling = client.callTool({ name: 'up_wipe', arguments: LARGE });
    const asked = await question();
    expect(asked).toMatchObject({
      isCut: true,
      answers: ['once', 'deny'],
      arguments: { command: 'rm -rf ~' },
    });
    expect(asked.notShown?.characters).toBeGreaterThan(4_000);
    for (const answer of ['session', 'always']) {
      const refused = await own.post(`/api/approvals/${asked.id}`, { answer });
      expect(refused.status).toBe(422);
      expect(refused.body).toMatchObject({
        error: expect.stringContaining('this call is too large to be shown in full'),
      });
    }
    expect(server.calls()).toHaveLength(0);
    // Nor through the runtime directly.
    own.daemon.configured.runtime.approvals.answer(asked.id, 'always', 'test');
    await calling;
    expect(server.calls().map(({ params }) => params.arguments)).toEqual([LARGE]);
    const again = client.callTool({ name: 'up_wipe', arguments: LARGE }).catch(() => {});
    const { id } = await question();
    await own.post(`/api/approvals/${id}`, { answer: 'deny' });
    await again;
    expect(server.calls()).toHaveLength(1);
    await client.close();
  });

  it('has its call shown in full, without secrets, only to tokens that may answer', async () => {
    await open();
    const client = await connect(era);
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
    const list = Array.from({ length: 3_000 }, (_, index) => ({ at: index, password: 'hunter2222' }));
    const text = `${'Lists the files. '.repeat(4_000)}${secret}${' and more'.repeat(4_000)} to the end`;
    const args = { text, list, note: 'short' };
    const _meta = { 'example/payload': 'p'.repeat(20_000) };
    const calling = client.callTool({ name: 'up_wipe', arguments: args, _meta });
    const asked = await question();
    expect(asked).toMatchObject({ isCut: true });
    const path = `/api/approvals/${asked.id}`;
    const whole = (await (await own.fetch(path)).json()) as ApprovalRequest;
    expect(whole.isCut).toBeUndefined();
    expect(whole).toMatchObject({ id: asked.id, answers: ['once', 'deny'], alsoSent: { _meta } });
    expect(whole.arguments.text).toBe(text.replace(secret, '[redacted]'));
    expect(whole.arguments.list).toHaveLength(3_000);
    expect(JSON.stringify(whole)).not.toContain('hunter2222');
    for (const [name, can, access, status] of [
      ['looker', ['mcp_integration'], ['read'], 403],
      ['caller', ['mcp_integration'], ['call'], 403],
      ['elsewhere', ['mcp:other'], ['call', 'read', 'admin'], 404],
      ['manager', ['mcp:up'], ['call', 'read', 'admin'], 200],
    ] as const) {
      const made = await own.post('/api/tokens', { name, can, access });
      expect((await own.fetch(path, { token: String(made.body.token) })).status, name).toBe(status);
    }
    await own.post(path, { answer: 'deny' });
    await calling.catch(() => {});
    const gone = await own.fetch(path);
    expect(gone.status).toBe(404);
    await client.close();
  });

  it('sees every argument by name in an approval form', async () => {
    await open({ approvalForms: 'approve' });
    const client = await connect(era, { elicitation: { form: {} } });
    const shown: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      shown.push(params.message);
      return { action: 'decline' };
    });
    await client.callTool({ name: 'up_wipe', arguments: LARGE });
    expect(shown[0]).toContain('"command":"rm -rf ~"');
    expect(shown[0]).toContain('(truncated)');
    await client.close();
  });

  it('forwards nothing that is unknown or hidden', async () => {
    await open();
    const client = await connect(era);
    const params = {
      name: 'up_wipe',
      arguments: { a: 1 },
      _meta: { 'example/payload': 'in _meta' },
      command: 'rm -rf ~',
      inputResponses: { confirm: { action: 'accept', content: { really: true } } },
    };
    const calling = client.callTool(params);
    const asked = await question();
    expect(asked.alsoSent).toEqual({
      _meta: { 'example/payload': 'in _meta' },
      inputResponses: params.inputResponses,
    });
    await own.post(`/api/approvals/${asked.id}`, { answer: 'once' });
    await calling;
    const [sent] = server.calls();
    expect(Object.keys(sent?.params ?? {}).sort()).toEqual(['_meta', 'arguments', 'inputResponses', 'name']);
    await client.close();
  });
});
