/** A call that waits for approval: its client is notified immediately, learns how to approve it, and continues with it. */
import { afterEach, describe, expect, it } from 'vitest';
import type { OwnDaemon } from '../daemon/own-daemon.js';
import type { Upstream } from '../threats/upstream.js';
import { type ApprovalStage, openApprovalStage } from './approval-stage.js';

let stage: ApprovalStage;
let server: Upstream;
let own: OwnDaemon;

async function open(daemon: object = {}): Promise<void> {
  stage = await openApprovalStage({ approvalWaitMs: 1_000, ...daemon });
  ({ server, own } = stage);
}
afterEach(() => stage.close());

const approvals = () => own.daemon.configured.runtime.approvals;
const call = { name: 'up_wipe', arguments: { path: '/a' } };

const connect: ApprovalStage['connect'] = (era, capabilities) => stage.connect(era, capabilities);

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  it('is told at once what its call waits for, and how to approve it', async () => {
    await open();
    const client = await connect(era);
    const received: string[] = [];
    const from = performance.now();
    let heardAfterMs = Number.POSITIVE_INFINITY;
    const calling = client.callTool(call, {
      onprogress: ({ message }) => {
        heardAfterMs = Math.min(heardAfterMs, performance.now() - from);
        received.push(String(message));
      },
    });
    const result = await calling;
    const [question] = approvals().pending();
    expect(received[0]).toContain(`turnbuckle approvals answer ${question?.id} once`);
    expect(heardAfterMs).toBeLessThan(900);
    expect(result.isError).toBe(true);
    expect(result._meta).toMatchObject({ 'turnbuckle/error': { code: 'APPROVAL_PENDING' } });
    expect(JSON.stringify(result.content)).toContain(`turnbuckle approvals answer ${question?.id} once`);
    expect(server.calls()).toHaveLength(0);
    await client.close();
  });

  it('goes on with the question when it calls again, and with an answer that came meanwhile, once', async () => {
    await open();
    const client = await connect(era);
    await client.callTool(call);
    const [question] = approvals().pending();
    // Again: the same question, not another one.
    await client.callTool(call);
    expect(
      approvals()
        .pending()
        .map(({ id }) => id),
    ).toEqual([question?.id]);
    // With other arguments: another question.
    await client.callTool({ ...call, arguments: { path: '/b' } });
    expect(approvals().pending()).toHaveLength(2);
    expect(approvals().answer(question?.id ?? '', 'once')).toBe(true);
    expect(server.calls()).toHaveLength(0);
    expect((await client.callTool(call)).isError).toBeUndefined();
    expect(server.calls().map(({ params }) => params.arguments)).toEqual([{ path: '/a' }]);
    // It was for one call.
    expect((await client.callTool(call))._meta).toMatchObject({
      'turnbuckle/error': { code: 'APPROVAL_PENDING' },
    });
    expect(server.calls()).toHaveLength(1);
    await client.close();
  });

  it('is denied once when it calls again after a "deny" that came meanwhile', async () => {
    await open();
    const client = await connect(era);
    await client.callTool(call);
    approvals().answer(approvals().pending()[0]?.id ?? '', 'deny', 'ada');
    expect((await client.callTool(call))._meta).toMatchObject({
      'turnbuckle/error': { code: 'CALL_DENIED' },
    });
    expect(approvals().pending()).toHaveLength(0);
    expect((await client.callTool(call))._meta).toMatchObject({
      'turnbuckle/error': { code: 'APPROVAL_PENDING' },
    });
    expect(server.calls()).toHaveLength(0);
    await client.close();
  });

  it.each(['session', 'always'] as const)(
    'requires no approval again after "%s", given while no call waited',
    async (answer) => {
      await open();
      const client = await connect(era);
      await client.callTool(call);
      approvals().answer(approvals().pending()[0]?.id ?? '', answer);
      for (const path of ['/a', '/c'])
        expect((await client.callTool({ ...call, arguments: { path } })).isError).toBeUndefined();
      if (answer === 'always')
        await expect
          .poll(
            () =>
              own.daemon.configured.runtime.decide({
                server: 'up',
                tool: 'wipe',
                caller: { id: 'agent', capabilities: ['mcp_integration'] },
              }).action,
          )
          .toBe('allow');
      await client.close();
    },
  );

  it.each([
    ['inform', 'accept', 'APPROVAL_PENDING'],
    ['inform', 'decline', 'CALL_DENIED'],
    ['approve', 'accept', undefined],
    ['approve', 'decline', 'CALL_DENIED'],
  ] as const)(
    'with approvalForms "%s" shows a form, and the answer "%s" leads to %s',
    async (approvalForms, action, code) => {
      await open({ approvalForms, approvalWaitMs: 2_000 });
      const client = await connect(era, { elicitation: { form: {} } });
      const shown: string[] = [];
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        shown.push(params.message);
        return action === 'accept' ? { action, content: {} } : { action };
      });
      const result = await client.callTool(call);
      expect(shown).toHaveLength(1);
      expect(shown[0]).toContain('turnbuckle approvals answer');
      const failure = result._meta?.['turnbuckle/error'] as { code?: string } | undefined;
      expect(failure?.code).toBe(code);
      expect(server.calls()).toHaveLength(code === undefined ? 1 : 0);
      await client.close();
    },
  );
});

it('a call over the bridge gets the same, but a call of the owner waits', async () => {
  await open();
  const body = { server: 'up', tool_name: 'wipe', arguments: { path: '/a' } };
  const first = await own.post('/mcp/call', body, stage.token);
  const [question] = approvals().pending();
  expect(first).toMatchObject({
    status: 409,
    body: { code: 'APPROVAL_PENDING', data: { approval: question?.id } },
  });
  approvals().answer(question?.id ?? '', 'once');
  expect(await own.post('/mcp/call', body, stage.token)).toMatchObject({
    status: 200,
    body: { success: true },
  });
  own.configure({ servers: { up: { url: server.url } }, rules: [{ action: 'ask', caller: 'host' }] });
  await expect
    .poll(() => own.daemon.configured.runtime.decide({ server: 'up', tool: 'wipe' }).action)
    .toBe('ask');
  let isOver = false;
  const waiting = own.post('/mcp/call', body).finally(() => {
    isOver = true;
  });
  await expect.poll(() => approvals().pending().length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  expect(isOver).toBe(false);
  approvals().answer(approvals().pending()[0]?.id ?? '', 'once');
  expect(await waiting).toMatchObject({ status: 200 });
});

it('a call over the bridge is denied by an answer that came when it had ended', async () => {
  await open();
  const body = { server: 'up', tool_name: 'wipe', arguments: { path: '/a' }, approval_wait_ms: 1 };
  const repeat = () => own.post('/mcp/call', body, stage.token);
  expect((await repeat()).body).toMatchObject({ code: 'APPROVAL_PENDING' });
  approvals().answer(approvals().pending()[0]?.id ?? '', 'deny', 'ada');
  expect(await repeat()).toMatchObject({ status: 403, body: { code: 'CALL_DENIED' } });
  await expect
    .poll(async () => (await own.fetch('/api/calls?limit=1')).json())
    .toMatchObject({ calls: [{ code: 'CALL_DENIED', approval: 'deny by ada' }] });
  expect((await repeat()).body).toMatchObject({ code: 'APPROVAL_PENDING' });
  expect(server.calls()).toHaveLength(0);
});

it('an approval is withdrawn when its client leaves and its token ends', async () => {
  await open({ approvalWaitMs: 600_000 });
  const client = await connect('legacy');
  const calling = client.callTool(call);
  calling.catch(() => {});
  await expect.poll(() => approvals().pending().length).toBe(1);
  await client.close();
  await own.fetch('/api/tokens/agent', { method: 'DELETE' });
  await expect.poll(() => approvals().pending().length).toBe(0);
});
