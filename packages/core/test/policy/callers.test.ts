import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type RuntimeEvents } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const home = await temporaryDirectory();
const asked: string[] = [];
let answer: 'once' | 'deny' | 'never' = 'once';
let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({
    stateDir: home.path,
    servers: { echo: fixture('echo'), sure: { ...fixture('echo'), trusted: true } },
    approvalTimeoutMs: 200,
    approve: (request) => {
      asked.push(request.toolName);
      return answer === 'never' ? new Promise(() => {}) : answer;
    },
  });
  await runtime.connectAll();
});

afterAll(async () => {
  await runtime.close();
  await home.remove();
});

const agent = (...capabilities: string[]): Caller => ({ id: 'agent-1', capabilities });
const echo = { tool: 'mcp__echo__echo', arguments: { text: 'hi' } };

// requirement P2
describe('a caller', () => {
  it('sees and calls the same tools', async () => {
    const names = runtime.toolsForAgent(agent('mcp_echo_add')).map((tool) => tool.name);
    expect(names).toEqual(['mcp__echo__add']);
    await expect(runtime.call({ ...echo, caller: agent('mcp_echo_add') })).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
    });
    await expect(runtime.call({ server: 'nonesuch', tool: 'x', caller: agent() })).rejects.toMatchObject({
      code: 'TOOL_UNKNOWN',
    });
  });

  it('does not learn about hidden tools, not even by a suggestion', async () => {
    const error = await runtime
      .call({ tool: 'mcp__echo__ech', caller: agent('mcp_echo_add') })
      .catch((thrown) => thrown);
    expect(error.code).toBe('TOOL_UNKNOWN');
    expect(error.hint).not.toContain('mcp__echo__echo');
  });

  it('needs approval, and continues when approved', async () => {
    answer = 'once';
    asked.length = 0;
    const decisions: RuntimeEvents['call.decided'][] = [];
    const stop = runtime.on('call.decided', (event) => decisions.push(event));
    await expect(runtime.call({ ...echo, caller: agent('mcp_echo') })).resolves.toMatchObject({
      content: [{ text: 'hi' }],
    });
    stop();
    expect(asked).toEqual(['mcp__echo__echo']);
    expect(decisions).toMatchObject([{ decision: 'ask', callerId: 'agent-1', tool: 'echo' }]);
  });

  it('is rejected when denied, and when no answer comes in time', async () => {
    answer = 'deny';
    await expect(runtime.call({ ...echo, caller: agent('mcp_echo') })).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
    answer = 'never';
    await expect(runtime.call({ ...echo, caller: agent('mcp_echo') })).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
  });

  it('may read from a trusted server without approval', async () => {
    answer = 'deny';
    asked.length = 0;
    const read = { tool: 'mcp__sure__read_only', arguments: {}, caller: agent('mcp_sure') };
    await expect(runtime.call(read)).resolves.toBeDefined();
    expect(asked).toEqual([]);
  });

  it('reads resources only of servers it may use', async () => {
    const [resource] = await runtime.listResources('echo');
    const uri = resource?.uri ?? '';
    await expect(runtime.readResource('echo', uri, { caller: agent('mcp_sure') })).rejects.toMatchObject({
      code: 'RESOURCE_UNKNOWN',
    });
    await expect(runtime.readResource('echo', uri, { caller: agent('mcp_echo') })).resolves.toHaveProperty(
      'contents',
    );
  });

  it('without an approver a call that needs approval fails with APPROVAL_NEEDED', async () => {
    const lonely = await createRuntime({ stateDir: home.path, servers: { echo: fixture('echo') } });
    await expect(lonely.call({ ...echo, caller: agent('mcp_echo') })).rejects.toMatchObject({
      code: 'APPROVAL_NEEDED',
    });
    await lonely.close();
  });
});
