import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const home = await temporaryDirectory();
let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({
    stateDir: home.path,
    naming: 'server_tool',
    resourceTools: true,
    servers: { echo: fixture('echo') },
  });
  runtime.registerTool({
    name: 'echo_add',
    description: 'shadows the name that a tool of the server would get',
    inputSchema: { type: 'object' },
    run: () => 'native',
  });
  await runtime.connectAll();
});

afterAll(async () => {
  await runtime.close();
  await home.remove();
});

// requirement T8
describe('resources and prompts as tools', () => {
  const nobody = { id: 'nobody', capabilities: [] };
  const unrelated = { id: 'stranger', capabilities: ['mcp:elsewhere'] };
  const reader = { id: 'reader', capabilities: ['mcp_echo'] };

  it('show a caller what it can see, and nothing else', async () => {
    const [resource] = await runtime.listResources('echo');
    const uri = String(resource?.uri);
    for (const [caller, sees] of [
      [unrelated, false],
      [reader, true],
    ] as const) {
      const listed = await runtime.execute('list_mcp_resources', {}, { caller });
      expect((listed.result as { resources: unknown[] }).resources.length > 0).toBe(sees);
      const read = await runtime.execute('read_mcp_resource', { server: 'echo', uri }, { caller });
      expect(read.success).toBe(sees);
      const prompts = await runtime.execute('list_mcp_prompts', { server: 'echo' }, { caller });
      expect((prompts.result as { prompts: unknown[] }).prompts.length > 0).toBe(sees);
    }
    const hidden = await runtime.execute('list_mcp_resources', { server: 'echo' }, { caller: unrelated });
    const missing = await runtime.execute('list_mcp_resources', { server: 'no-such' }, { caller: unrelated });
    expect(hidden.result).toEqual(missing.result);
    const greet = { server: 'echo', name: 'greet', arguments: { who: 'Ada' } };
    const got = await runtime.execute('get_mcp_prompt', greet, { caller: reader });
    expect(got.result).toMatchObject({ messages: [{ content: { text: expect.stringContaining('Ada') } }] });
    const refused = await runtime.execute('get_mcp_prompt', greet, { caller: unrelated });
    expect(refused.failure?.code).toBe('PROMPT_UNKNOWN');
    const none = await runtime.execute('list_mcp_resources', {}, { caller: nobody });
    expect(none.failure?.code).toBe('TOOL_UNKNOWN');
  });
});

// requirement T3
describe('native tools', () => {
  it.each([
    [[], 'no', 'no'],
    [['mcp:echo'], 'no', 'public'],
    [['mcp_integration'], 'own', 'public'],
    [['mcp:native'], 'own', 'public'],
    [['mcp_native'], 'own', 'public'],
    [['mcp:native/own_tool'], 'own', 'public'],
    [['mcp_native_own_tool'], 'own', 'public'],
    [['mcp:native/other'], 'no', 'public'],
  ])('are visible to a caller with %j: %s, %s', async (capabilities, own, open) => {
    const local = await createRuntime({ stateDir: home.path, rules: [{ action: 'allow' }] });
    try {
      const inputSchema = { type: 'object' };
      local.registerTool({ name: 'own_tool', inputSchema, run: () => 'own' });
      local.registerTool({ name: 'public_tool', inputSchema, public: true, run: () => 'public' });
      const caller = { id: 'x', capabilities };
      const seen = local.toolsForAgent(caller).map(({ name }) => name);
      const ran = async (tool: string): Promise<unknown> => {
        const { result, failure } = await local.execute(tool, {}, { caller });
        return failure?.code === 'TOOL_UNKNOWN' ? 'no' : result;
      };
      expect(await ran('own_tool')).toBe(own);
      expect(await ran('public_tool')).toBe(open);
      expect(seen).toEqual([
        ...(own === 'no' ? [] : ['own_tool']),
        ...(open === 'no' ? [] : ['public_tool']),
      ]);
    } finally {
      await local.close();
    }
  });

  it('are in the same catalog under their own name', () => {
    const names = runtime.tools().map((tool) => tool.name);
    expect(names).toContain('echo_add');
    expect(names).toContain('echo_echo');
    expect(runtime.catalog.isMcpTool('echo_add')).toBe(false);
    expect(runtime.catalog.isMcpTool('echo_echo')).toBe(true);
    expect(runtime.catalog.count()).toBe(names.length);
    expect(names).toEqual([...names].sort());
  });

  it("keep their name; a server's tool with the same name gets another one that still resolves to it", async () => {
    await expect(runtime.execute('echo_add')).resolves.toMatchObject({ result: 'native' });
    const moved = runtime.catalog.listByServer('echo').find(({ tool }) => tool === 'add');
    expect(moved?.name).toMatch(/^echo_add_x/);
    await expect(runtime.execute(moved?.name ?? '', { a: 2, b: 2 })).resolves.toMatchObject({
      result: { sum: 4 },
    });
  });

  it('return an error result when they throw', async () => {
    runtime.registerTool({
      name: 'broken',
      inputSchema: { type: 'object' },
      run: () => {
        throw new Error('out of paper');
      },
    });
    await expect(runtime.call({ tool: 'broken' })).resolves.toMatchObject({
      isError: true,
      content: [{ text: 'out of paper' }],
    });
    expect(runtime.catalog.unregister('broken')).toBe(true);
    expect(runtime.catalog.unregister('broken')).toBe(false);
  });

  it.each([['echo_add'], ['with space'], ['x'.repeat(65)], ['tool_x0123456789abc']])(
    'reject the name %s',
    (name) => {
      const register = (): void =>
        runtime.registerTool({ name, inputSchema: { type: 'object' }, run: () => null });
      expect(register).toThrow(expect.objectContaining({ code: 'NAME_TAKEN' }));
    },
  );

  it('can be cancelled', async () => {
    runtime.registerTool({ name: 'wait', inputSchema: { type: 'object' }, run: () => new Promise(() => {}) });
    const abort = new AbortController();
    const waiting = runtime.call({ tool: 'wait', signal: abort.signal });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    runtime.catalog.unregister('wait');
  });
});

describe('resources as tools', () => {
  it('list and read', async () => {
    const listed = await runtime.execute('list_mcp_resources', { server: 'echo' });
    const { resources } = listed.result as { resources: Array<{ uri: string; server: string }> };
    expect(resources.length).toBeGreaterThan(0);
    const read = await runtime.call({
      tool: 'read_mcp_resource',
      arguments: { server: 'echo', uri: resources[0]?.uri },
    });
    expect(read.isError).toBeUndefined();
    await expect(runtime.execute('list_mcp_prompts')).resolves.toMatchObject({ success: true });
  });

  it('name the unknown server', async () => {
    const read = await runtime.execute('read_mcp_resource', { server: 'nonesuch', uri: 'x:' });
    expect(read).toMatchObject({ success: false, failure: { code: 'SERVER_UNKNOWN' } });
  });
});
