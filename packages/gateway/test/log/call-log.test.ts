import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Caller } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { openRecorded } from './recorded-runtime.js';

const agent: Caller = { id: 'agent-7', capabilities: ['mcp_integration'], run: 'session-3' };

describe('the record of a call', () => {
  it('has no secret in the name of a caller, a run or a request', async () => {
    const { runtime, log } = await openRecorded({ runtime: { defaultDecision: 'allow' } });
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    const caller = { id: `me ${secret}`, capabilities: ['mcp_integration'], run: `run ${secret}` };
    await runtime.callTool('demo', 'echo', { text: 'hi' }, { caller, requestId: `request ${secret}` });
    await log.flush();
    expect(await log.get('request [redacted]')).toMatchObject({
      caller: 'me [redacted]',
      run: 'run [redacted]',
    });
  });

  it('has the caller, the tool, the arguments and the outcome', async () => {
    const { runtime, log } = await openRecorded({ runtime: { defaultDecision: 'allow' } });
    await runtime.connectAll();
    await runtime.callTool('demo', 'echo', { text: 'hi' }, { caller: agent, requestId: 'first' });
    await log.flush();
    expect(await log.get('first')).toMatchObject({
      caller: 'agent-7',
      run: 'session-3',
      server: 'demo',
      tool: 'echo',
      tool_name: 'mcp__demo__echo',
      kind: 'tool',
      arguments: '{"text":"hi"}',
      arguments_bytes: expect.any(Number),
      result: expect.stringContaining('"text":"hi"'),
      success: 1,
      outcome: 'ok',
      code: null,
      error: null,
      attempts: 1,
      decision: 'allow',
      reason: expect.stringMatching(/\S/),
      era: expect.stringMatching(/^(legacy|modern)$/),
    });
  });

  it('has what went to the server beside the arguments, without secrets and bounded', async () => {
    const { runtime, log } = await openRecorded({ runtime: { defaultDecision: 'allow' } });
    await runtime.connectAll();
    const call = (requestId: string, meta?: Record<string, unknown>) =>
      runtime.callTool('demo', 'echo', { text: 'hi' }, { caller: agent, requestId, ...(meta && { meta }) });
    const seen: unknown[] = [];
    runtime.on('call.settled', ({ alsoSent }) => void seen.push(alsoSent));
    await call('plain');
    await call('trace', { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` });
    await call('more', { 'example/order': 'rm -rf', password: 'hunter2222' });
    await call('long', { 'example/long': 'x'.repeat(100_000) });
    await log.flush();
    expect(seen.slice(0, 3)).toEqual([
      undefined,
      undefined,
      { _meta: { 'example/order': 'rm -rf', password: 'hunter2222' } },
    ]);
    for (const id of ['plain', 'trace']) expect(await log.get(id)).toMatchObject({ also_sent: null });
    expect(await log.get('more')).toMatchObject({
      arguments: '{"text":"hi"}',
      also_sent: '{"_meta":{"example/order":"rm -rf","password":"[redacted]"}}',
    });
    const long = String((await log.get('long'))?.also_sent);
    expect(long.length).toBeLessThan(4_200);
    expect(long.endsWith('…')).toBe(true);
  });

  it('distinguishes a tool error from a call without a result', async () => {
    const { runtime, log } = await openRecorded({
      runtime: { servers: {}, rules: [{ action: 'deny', tool: 'secret_door', reason: 'not today' }] },
    });
    const inputSchema = { type: 'object' };
    runtime.registerTool({
      name: 'broken',
      inputSchema,
      run: () => ({ content: [{ type: 'text', text: 'out of paper' }], isError: true }),
    });
    runtime.registerTool({ name: 'secret_door', inputSchema, run: () => 'never' });
    await runtime.execute('broken', {}, { requestId: 'a' });
    await runtime.execute('secret_door', {}, { requestId: 'b' });
    await runtime.execute('made_up', {}, { requestId: 'c' });
    await log.flush();
    expect(await log.get('a')).toMatchObject({ success: 0, outcome: 'tool-error', error: 'out of paper' });
    expect(await log.get('b')).toMatchObject({
      outcome: 'failed',
      code: 'CALL_DENIED',
      decision: 'deny',
      reason: expect.stringContaining('not today'),
    });
    expect(await log.get('c')).toMatchObject({ outcome: 'failed', code: 'TOOL_UNKNOWN', tool: 'made_up' });
  });

  // requirement P5
  it('has the answer to an approval', async () => {
    const { runtime, log } = await openRecorded({
      runtime: { servers: {}, rules: [{ action: 'ask' }], approve: () => 'session' },
    });
    runtime.registerTool({ name: 'paint', inputSchema: { type: 'object' }, run: () => 'done' });
    await runtime.call({ tool: 'paint', requestId: 'a', caller: agent });
    await runtime.call({ tool: 'paint', requestId: 'b', caller: agent });
    await log.flush();
    expect(await log.get('a')).toMatchObject({ decision: 'ask', approval: 'session by approver' });
    expect(await log.get('b')).toMatchObject({ decision: 'ask', approval: 'session' });
  });

  it('is written to a file before the result is returned', async () => {
    const { runtime, files } = await openRecorded({ runtime: { servers: {} } });
    let seen = '';
    runtime.registerTool({ name: 'now', inputSchema: { type: 'object' }, run: () => 'x' });
    await runtime.call({ tool: 'now', requestId: 'acknowledged-1' }).then(() => {
      seen = files();
    });
    expect(seen).toContain('acknowledged-1');
  });

  it('exists for both of two calls with the same request id', async () => {
    const { runtime, log } = await openRecorded({ runtime: { servers: {} } });
    runtime.registerTool({ name: 'now', inputSchema: { type: 'object' }, run: () => 'x' });
    await runtime.call({ tool: 'now', requestId: 'same' });
    await runtime.call({ tool: 'now', requestId: 'same' });
    await log.flush();
    expect(await log.find()).toHaveLength(2);
  });

  it('keeps the beginning of a large value, and its size', async () => {
    const { runtime, log } = await openRecorded({ record: { keep: { result: 1_000, arguments: 0 } } });
    await runtime.connectAll();
    await runtime.callTool('demo', 'big', { bytes: 1_000_000 }, { requestId: 'large' });
    await log.flush();
    const row = await log.get('large');
    expect(row).toMatchObject({ arguments: null, arguments_bytes: expect.any(Number) });
    expect(String(row?.result)).toMatch(/^\{.*"content":\[\{"type":"text","text":"x+…$/);
    expect(String(row?.result)).toHaveLength(1_001);
    expect(Number(row?.result_bytes)).toBeGreaterThan(1_000_000);
    expect(Number(row?.arguments_bytes)).toBeGreaterThan(5);
  });

  it('exists for arguments that are no JSON', async () => {
    const { runtime, log } = await openRecorded({ runtime: { servers: {} } });
    const ring: Record<string, unknown> = { big: 1n };
    ring.self = ring;
    runtime.registerTool({ name: 'ring', inputSchema: { type: 'object' }, run: () => 'x' });
    await runtime.execute('ring', ring, { requestId: 'ring' });
    await log.flush();
    expect(await log.get('ring')).toMatchObject({ tool: 'ring', arguments: null });
  });

  it('is counted if it cannot be written, and the call succeeds', async () => {
    const failures: Error[] = [];
    const { runtime, log, directory } = await openRecorded({
      runtime: { servers: {} },
      log: { onFailure: (error) => failures.push(error) },
    });
    runtime.registerTool({ name: 'now', inputSchema: { type: 'object' }, run: () => 'x' });
    await log.flush();
    const journal = join(directory, 'journal');
    rmSync(journal, { recursive: true });
    writeFileSync(journal, 'no directory any more');
    for (let count = 0; count < 3; count += 1)
      expect(await runtime.execute('now')).toMatchObject({ success: true });
    expect(log.counts).toMatchObject({ kept: 0, refused: 3 });
    expect(failures).toHaveLength(1);
    rmSync(journal);
  });
});

describe('the table of servers', () => {
  it('has the config and the totals of each server', async () => {
    const { runtime, log } = await openRecorded();
    await runtime.connectAll();
    await runtime.callTool('demo', 'echo', { text: 'hi' });
    await runtime.callTool('demo', 'fail').catch(() => {});
    await runtime.toggle('demo', false);
    await runtime.setServers({});
    await log.flush();
    const [server] = await log.servers();
    expect(server).toMatchObject({ name: 'demo', enabled: 0, calls: 2, failures: 1 });
    expect(Number(server?.removed_at)).toBeGreaterThanOrEqual(Number(server?.added_at));
    expect(String(server?.config)).toContain('echo');
    expect(await log.unusedServers(Date.now())).toEqual([]);
  });
});
