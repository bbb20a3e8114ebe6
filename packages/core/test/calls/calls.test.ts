import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeEvents, TurnbuckleError } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const home = await temporaryDirectory();
let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({
    stateDir: home.path,
    servers: {
      echo: fixture('echo'),
      later: { ...fixture('echo'), start: 'lazy' },
      off: { ...fixture('echo'), enabled: false },
    },
  });
  await runtime.connectAll();
});

afterAll(async () => {
  await runtime.close();
  await home.remove();
});

const failure = async (call: Promise<unknown>): Promise<TurnbuckleError> => {
  const thrown = await call.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(TurnbuckleError);
  return thrown as TurnbuckleError;
};

describe('resolve', () => {
  it('finds a tool by its agent name and by server and name', async () => {
    await expect(runtime.call({ tool: 'mcp__echo__echo', arguments: { text: 'a' } })).resolves.toMatchObject({
      content: [{ text: 'a' }],
    });
    await expect(runtime.callTool('echo', 'echo', { text: 'b' })).resolves.toMatchObject({
      content: [{ text: 'b' }],
    });
  });

  it('starts a lazy server on its first call', async () => {
    expect(runtime.serverStatus('later').status).toBe('pending');
    await expect(runtime.call({ tool: 'mcp__later__echo', arguments: { text: 'c' } })).resolves.toBeDefined();
    expect(runtime.serverStatus('later').status).toBe('connected');
  });

  it.each([
    [
      'an unknown tool, with the nearest name',
      { tool: 'mcp__echo__ecko' },
      'TOOL_UNKNOWN',
      'mcp__echo__echo',
    ],
    ['an unknown tool of a server', { server: 'echo', tool: 'ad' }, 'TOOL_UNKNOWN', 'add'],
    ['an unknown server', { server: 'ecko', tool: 'add' }, 'SERVER_UNKNOWN', 'echo'],
    ['a server that is off', { server: 'off', tool: 'add' }, 'SERVER_DISABLED', 'toggle'],
  ])('names %s', async (_what, request, code, hint) => {
    const error = await failure(runtime.call(request));
    expect(error).toMatchObject({ code, hint: expect.stringContaining(hint) });
  });
});

// requirement T5
describe('check', () => {
  it.each([
    ['a missing argument', {}, 'text'],
    ['a wrong type', { text: 5 }, 'text: must be string'],
  ])('rejects %s before anything is sent', async (_what, args, text) => {
    const error = await failure(runtime.callTool('echo', 'echo', args));
    expect(error).toMatchObject({ code: 'ARGUMENTS_INVALID', server: 'echo', tool: 'echo' });
    expect(error.message).toContain(text);
  });

  it('accepts null for an omitted optional argument', async () => {
    runtime.registerTool({
      name: 'greet',
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string' }, loud: { type: 'boolean' } },
        required: ['name'],
      },
      run: (input) => input,
    });
    await expect(runtime.execute('greet', { name: 'Ada', loud: null })).resolves.toMatchObject({
      success: true,
      result: { name: 'Ada', loud: null },
    });
    await expect(runtime.execute('greet', { name: null })).resolves.toMatchObject({ success: false });
    runtime.catalog.unregister('greet');
  });

  it('rejects a result that does not match its output schema, and keeps the result', async () => {
    runtime.registerTool({
      name: 'liar',
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
      run: () => ({ sum: 'many' }),
    });
    const error = await failure(runtime.call({ tool: 'liar' }));
    expect(error.code).toBe('RESULT_INVALID');
    expect(error.data?.result).toMatchObject({ structuredContent: { sum: 'many' } });
    runtime.catalog.unregister('liar');
  });
});

describe('call.settled', () => {
  it('reports each call exactly once, whatever its outcome', async () => {
    const settled: RuntimeEvents['call.settled'][] = [];
    const stop = runtime.on('call.settled', (event) => settled.push(event));
    await runtime.callTool('echo', 'echo', { text: 'x' });
    await runtime.callTool('echo', 'fail', {});
    await runtime.callTool('echo', 'rpc_error', {}).catch(() => {});
    await runtime.callTool('echo', 'nonesuch', {}).catch(() => {});
    await runtime.callTool('echo', 'echo', {}).catch(() => {});
    const abort = new AbortController();
    const sleeping = runtime
      .callTool('echo', 'sleep', { ms: 5_000 }, { signal: abort.signal })
      .catch(() => {});
    setTimeout(() => abort.abort(), 30);
    await sleeping;
    await runtime.callTool('echo', 'sleep', { ms: 5_000 }, { maxTotalMs: 30 }).catch(() => {});
    stop();
    expect(settled.map(({ outcome, error }) => error?.code ?? outcome)).toEqual([
      'ok',
      'tool-error',
      'SERVER_ERROR',
      'TOOL_UNKNOWN',
      'ARGUMENTS_INVALID',
      'CALL_CANCELLED',
      'CALL_TIMEOUT',
    ]);
    expect(new Set(settled.map(({ requestId }) => requestId)).size).toBe(settled.length);
  });

  it('a listener that throws affects no one else', async () => {
    const failed: unknown[] = [];
    const stops = [
      runtime.on('call.settled', () => {
        throw new Error('listener');
      }),
      runtime.on('listener.failed', (event) => failed.push(event.event)),
    ];
    await expect(runtime.callTool('echo', 'echo', { text: 'x' })).resolves.toBeDefined();
    for (const stop of stops) stop();
    expect(failed).toEqual(['call.settled']);
  });

  it('counts calls and their average duration per server', async () => {
    const before = runtime.serverStatus('echo').calls;
    await runtime.callTool('echo', 'echo', { text: 'x' });
    await runtime.callTool('echo', 'fail', {});
    const after = runtime.serverStatus('echo').calls;
    expect(after.total - before.total).toBe(2);
    expect(after.succeeded - before.succeeded).toBe(1);
    expect(after.failed - before.failed).toBe(1);
    expect(after.averageMs).toBeGreaterThan(0);
  });
});

// requirement T4
describe('execute', () => {
  beforeAll(() => {
    const content = [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ];
    runtime.registerTool({ name: 'collage', inputSchema: { type: 'object' }, run: () => ({ content }) });
  });

  it.each([
    [
      'structured content',
      'mcp__echo__add',
      { a: 1, b: 2 },
      { success: true, result: { sum: 3 }, mcp: { contentType: 'structured' } },
    ],
    [
      'text',
      'mcp__echo__echo',
      { text: 'hi' },
      { success: true, result: 'hi', mcp: { contentType: 'text' } },
    ],
    [
      'JSON text as data',
      'mcp__echo__echo',
      { text: '{"a":[1]}' },
      { success: true, result: { a: [1] }, mcp: { contentType: 'json' } },
    ],
    [
      'text that only looks like JSON',
      'mcp__echo__echo',
      { text: '{oops' },
      { success: true, result: '{oops', mcp: { contentType: 'text' } },
    ],
    [
      'structured content before many parts',
      'mcp__echo__content',
      {},
      { success: true, mcp: { contentType: 'structured' } },
    ],
    [
      'many parts',
      'collage',
      {},
      { success: true, result: [{ type: 'text' }, { type: 'image' }], mcp: { contentType: 'mixed' } },
    ],
    ["the tool's own failure", 'mcp__echo__fail', {}, { success: false, failure: undefined }],
    [
      'a name that does not exist',
      'mcp__echo__no',
      {},
      { success: false, failure: { code: 'TOOL_UNKNOWN' } },
    ],
    ['a name that is not a tool name', '\u0000', {}, { success: false, failure: { code: 'TOOL_UNKNOWN' } }],
  ])('returns %s without throwing', async (_what, name, input, expected) => {
    const execution = await runtime.execute(name, input);
    expect(execution).toMatchObject({ toolName: name, ...expected });
    expect(execution.mcp.requestId).toBeTypeOf('string');
    expect(execution.mcp.responseTimeMs).toBeGreaterThanOrEqual(0);
    if (!execution.success) expect(execution.error).toBeTypeOf('string');
  });

  it('does not throw for arguments that are not an object', async () => {
    const execution = await runtime.execute('mcp__echo__echo', 'text' as never);
    expect(execution).toMatchObject({ success: false, failure: { code: 'ARGUMENTS_INVALID' } });
  });
});

// requirement T6
describe('progress', () => {
  it('resets the timeout even if the caller does not listen, and is an event', async () => {
    const seen: number[] = [];
    const stop = runtime.on('call.progress', (event) => seen.push(event.progress));
    await expect(runtime.callTool('echo', 'sleep', { ms: 600 }, { timeoutMs: 300 })).resolves.toBeDefined();
    stop();
    expect(seen.length).toBeGreaterThan(0);
  });
});
