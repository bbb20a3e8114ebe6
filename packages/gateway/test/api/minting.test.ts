import { fixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import type { TokenAccess } from '../../src/identity/access.js';
import { openStage, type Stage } from './api-stage.js';

const ALL: readonly TokenAccess[] = ['call', 'read', 'admin'];
const SOON = '2998-01-01T00:00:00.000Z';
const LATER = '2999-01-01T00:00:00.000Z';

interface Made {
  readonly token: string;
  readonly facts: { readonly expiresAt?: string; readonly root?: string };
}

const mint = (stage: Stage, token: string, body: object) =>
  stage.ask('POST', '/api/tokens', {
    token,
    body: { name: 'child', can: ['mcp_demo'], access: ['read'], ...body },
  });

describe('a token that another token creates', () => {
  it('has no more access than its creator', async () => {
    const stage = await openStage();
    const adminToken = await stage.token(['read', 'admin']);
    for (const access of [['call'], ['read', 'call']])
      expect(await mint(stage, adminToken, { access })).toMatchObject({
        status: 403,
        body: { code: 'ACCESS_DENIED', error: expect.stringContaining('"call"') },
      });
    const made = await mint(stage, adminToken, { access: ['read', 'admin'] });
    expect(made.body).toMatchObject({ facts: { access: ['read', 'admin'], root: 'made-1' } });
    expect(await mint(stage, stage.owner, { name: 'other', access: ALL })).toMatchObject({ status: 200 });
  });

  it.each([
    [['mcp_integration'], ['mcp_integration', 'mcp:demo', 'mcp:demo/echo', 'mcp_demo', 'mcp_demo_echo'], 200],
    [['mcp_integration'], [], 200],
    [['mcp_integration'], ['mcp_demo', 'mcp_vetted'], 403],
    [['mcp_integration'], ['mcp:vetted'], 403],
    [['mcp_integration'], ['mcp_special'], 403],
    [['mcp_integration'], ['mcp_elsewhere'], 403],
    [['mcp_integration'], ['mcp:elsewhere/tool'], 403],
    [['mcp_integration', 'mcp_vetted', 'mcp_special'], ['mcp_vetted', 'mcp_special'], 200],
  ] as const)('of a creator with %j gets %j: %i', async (held, can, status) => {
    const file = JSON.stringify({
      servers: {
        demo: { ...fixture('echo'), requires: { 'add*': ['mcp_vetted'] } },
        vetted: { ...fixture('echo'), requires: ['mcp:vetted'] },
      },
    });
    const stage = await openStage({ file });
    stage.runtime.registerTool({
      name: 'special',
      inputSchema: { type: 'object' },
      capability: 'mcp_special',
      run: () => 'special',
    });
    const creator = await stage.token(ALL, [...held]);
    const made = await mint(stage, creator, { can });
    expect(made.status).toBe(status);
    if (status === 403) expect(made.body).toMatchObject({ code: 'ACCESS_DENIED' });
    expect((await mint(stage, stage.owner, { name: 'other', can })).status).toBe(200);
  });

  it('expires no later than its creator', async () => {
    const stage = await openStage();
    const expiresAt = new Date(SOON);
    const { token } = await stage.tokens.create({
      ...{ name: 'brief', access: ALL, can: ['mcp_integration'] },
      expiresAt,
    });
    expect(await mint(stage, token, { expires: LATER })).toMatchObject({
      status: 403,
      body: { code: 'ACCESS_DENIED', error: expect.stringContaining(SOON) },
    });
    const same = (await mint(stage, token, { expires: SOON })).body as unknown as Made;
    expect(same.facts.expiresAt).toBe(SOON);
    // Without an expiry in the request, the token expires with its creator.
    const silent = (await mint(stage, token, { name: 'silent' })).body as unknown as Made;
    expect(silent.facts.expiresAt).toBe(SOON);
  });
});

describe('an approval', () => {
  /** A call of this caller that waits for approval: the id of the approval, and the outcome of the call. */
  async function waiting(stage: Stage, id: string): Promise<{ id: string; settled: Promise<unknown> }> {
    const caller = { id, capabilities: ['mcp_integration'] };
    const settled = stage.runtime
      .callTool('demo', 'echo', { text: 'x' }, { caller })
      .catch((error: unknown) => error);
    await waitUntil(() => stage.runtime.approvals.pending().length === 1);
    return { id: stage.runtime.approvals.pending()[0]?.id ?? '', settled };
  }
  const answer = (stage: Stage, id: string, token: string, word: string) =>
    stage.ask('POST', `/api/approvals/${id}`, { token, body: { answer: word } });

  it('cannot be given by the token that made the call; a denial can', async () => {
    const stage = await openStage();
    await stage.runtime.connectAll();
    const self = await stage.token(ALL);
    const call = await waiting(stage, 'made-1');
    for (const word of ['once', 'session', 'always'])
      expect(await answer(stage, call.id, self, word)).toMatchObject({
        status: 403,
        body: { code: 'ACCESS_DENIED' },
      });
    expect((await answer(stage, call.id, self, 'deny')).status).toBe(200);
    expect(await call.settled).toMatchObject({ code: 'CALL_DENIED' });
  });

  it('can be given by another token, or by the owner', async () => {
    const stage = await openStage();
    await stage.runtime.connectAll();
    await stage.token(['call']);
    const other = await stage.token(ALL);
    for (const token of [other, stage.owner]) {
      const call = await waiting(stage, 'made-1');
      expect((await answer(stage, call.id, token, 'once')).status).toBe(200);
      expect(await call.settled).toMatchObject({ content: [{ text: 'x' }] });
    }
  });

  it('cannot be given by a token that created the caller, or that the caller created', async () => {
    const stage = await openStage();
    await stage.runtime.connectAll();
    const parent = await stage.token(ALL);
    const child = (await mint(stage, parent, { access: ALL, can: ['mcp_integration'] }))
      .body as unknown as Made;
    const grandchild = (
      await mint(stage, child.token, { name: 'grandchild', access: ALL, can: ['mcp_integration'] })
    ).body as unknown as Made;
    const pairs: Array<[string, string]> = [
      ['made-1', child.token],
      ['child', parent],
      ['grandchild', parent],
      ['child', grandchild.token],
    ];
    for (const [caller, token] of pairs) {
      const call = await waiting(stage, caller);
      expect([caller, (await answer(stage, call.id, token, 'once')).status]).toEqual([caller, 403]);
      expect((await answer(stage, call.id, stage.owner, 'deny')).status).toBe(200);
      await call.settled;
    }
    // Nor when the token between them is revoked, or the one that called.
    for (const gone of ['child', 'grandchild']) {
      const call = await waiting(stage, 'grandchild');
      await stage.tokens.revoke(gone);
      expect([gone, (await answer(stage, call.id, parent, 'once')).status]).toEqual([gone, 403]);
      expect((await answer(stage, call.id, stage.owner, 'once')).status).toBe(200);
      expect(await call.settled).toMatchObject({ content: [{ text: 'x' }] });
    }
  });
});
