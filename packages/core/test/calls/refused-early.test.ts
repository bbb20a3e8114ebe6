/** A refusal that needs nothing of the server is decided without it. */
import { fixture } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';

const ALL: Caller = { id: 'ada', capabilities: ['mcp_integration'] };
const OTHER: Caller = { id: 'bob', capabilities: ['mcp_other'] };
const SECRET = 'test://secret';

async function open(rules: RuntimeOptions['rules']): Promise<Runtime> {
  const runtime = await createRuntime({
    servers: { s: { ...fixture('echo'), start: 'lazy' } },
    rules,
    defaultDecision: 'allow',
  });
  onTestFinished(() => runtime.close());
  return runtime;
}

type Path = (runtime: Runtime, caller: Caller | undefined) => Promise<unknown>;

const PATHS: Readonly<Record<string, Path>> = {
  'resources/read': (runtime, caller) => runtime.readResource('s', SECRET, { caller }),
  'prompts/get': (runtime, caller) => runtime.getPrompt('s', SECRET, {}, { caller }),
  'resources/subscribe': (runtime, caller) => runtime.subscribeResource('s', SECRET, () => {}, { caller }),
  'completion/complete': (runtime, caller) =>
    runtime.request({
      kind: 'resource',
      method: 'completion/complete',
      server: 's',
      item: SECRET,
      params: { ref: { type: 'ref/resource', uri: SECRET }, argument: { name: 'a', value: 'b' } },
      caller,
    }),
};
const TOOL: Path = (runtime, caller) => runtime.callTool('s', 'echo', {}, { caller });

async function outcome(path: Path, rules: RuntimeOptions['rules'], caller?: Caller) {
  const runtime = await open(rules);
  const refused = await path(runtime, caller).then(
    () => 'done',
    ({ code }) => code as string,
  );
  return { refused, state: runtime.serverStatus('s').state };
}

// requirement P5
describe.each(Object.entries(PATHS))('%s connects no server', (_method, path) => {
  it.each([
    ['of the host denies', [{ action: 'deny', tool: SECRET }], undefined, /CALL_DENIED/],
    ['needs an approval that nobody can give', [{ action: 'ask', tool: SECRET }], ALL, /APPROVAL_NEEDED/],
    ['denies the whole server', [{ action: 'deny', server: 's' }], ALL, /_UNKNOWN/],
  ] as const)('if a rule %s', async (_what, rules, caller, code) => {
    const { refused, state } = await outcome(path, [...rules], caller);
    expect(refused).toMatch(code);
    expect(state).toBe('disconnected');
  });

  it('if the caller may not know it', async () => {
    expect(await outcome(path, [], OTHER)).toEqual({
      refused: expect.stringContaining('_UNKNOWN'),
      state: 'disconnected',
    });
  });
});

// requirement P5
describe('tools/call connects no server', () => {
  it('if the caller may not know it, or a rule denies all of it', async () => {
    const expected = { refused: 'TOOL_UNKNOWN', state: 'disconnected' };
    expect(await outcome(TOOL, [], OTHER)).toEqual(expected);
    expect(await outcome(TOOL, [{ action: 'deny', server: 's' }], ALL)).toEqual(expected);
  });

  it('unless the definition of the tool may count', async () => {
    const { refused, state } = await outcome(TOOL, [{ action: 'deny', tool: 'echo' }]);
    expect({ refused, state }).toEqual({ refused: 'CALL_DENIED', state: 'connected' });
  });
});

// requirement P5
it('a hidden item is looked for like one that does not exist', async () => {
  for (const path of [PATHS['resources/read'], PATHS['prompts/get']] as Path[]) {
    const { refused, state } = await outcome(path, [{ action: 'deny', tool: SECRET }], ALL);
    expect(refused).toMatch(/_UNKNOWN/);
    expect(state).toBe('connected');
  }
});
