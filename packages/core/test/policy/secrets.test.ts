import { temporaryDirectory } from '@turnbuckle/testing';
import {
  type Caller,
  type CallOptions,
  createRuntime,
  type Runtime,
  type RuntimeEvents,
  type RuntimeOptions,
  type ServerInput,
} from 'turnbuckle';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { redactResult } from '../../src/redaction/redact-result.js';
import { createRedactor } from '../../src/redaction/redactor.js';
import { createSetting } from '../config/setting.js';
import { placed } from './decision-world.js';
import { TinyServer, toolNamed } from './tiny-server.js';

const home = await temporaryDirectory();
afterAll(() => home.remove());

const TOKEN = 'kq7-ZrT0-private-91x';
const SHAPED = 'AKIAIOSFODNN7EXAMPLE';
const caller: Caller = { id: 'agent', capabilities: ['mcp_integration'] };

/** A runtime that has learned the token of a server while connecting it. */
async function open(options: RuntimeOptions = {}, more: object = {}) {
  const server = new TinyServer([
    toolNamed('write'),
    toolNamed('read', { annotations: { readOnlyHint: true } }),
  ]);
  const runtime = await createRuntime({
    stateDir: home.path,
    pins: 'off',
    servers: { one: server.config({ trusted: true, ...more }) },
    resolve: async (_name, config, learn) => {
      learn(TOKEN);
      return config;
    },
    rules: [{ action: 'allow' }],
    ...options,
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  const call = (args: Record<string, unknown>, who: Caller | undefined = caller) =>
    runtime.callTool('one', 'write', args, { caller: who });
  return { runtime, server, call };
}

describe('a secret that the runtime knows', () => {
  it('does not leave in the arguments of an agent, whatever allows the call', async () => {
    const { call, runtime, server } = await open();
    const decided: RuntimeEvents['call.decided'][] = [];
    runtime.on('call.decided', (event) => decided.push(event));
    const error = await call({ deep: [{ text: `see ${TOKEN}` }] }).catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: 'CALL_DENIED',
      message: expect.stringContaining('contain a known secret'),
    });
    expect(decided).toMatchObject([{ decision: 'deny', rule: { index: 0, action: 'allow' } }]);
    expect(JSON.stringify([error, decided])).not.toContain(TOKEN);
    await expect(runtime.readResource('one', `doc://x/${TOKEN}`, { caller })).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
    await expect(runtime.getPrompt('one', 'p', { text: TOKEN }, { caller })).rejects.toMatchObject({
      code: 'CALL_DENIED',
    });
    expect(server.calls).toEqual([]);
    await call({ text: SHAPED });
    await call({ text: 'kq7-ZrT0' });
    expect(server.calls).toHaveLength(2);
  });

  it('is not sent outside the arguments either', async () => {
    const { runtime, server } = await open();
    const ways: CallOptions[] = [
      { meta: { note: TOKEN } },
      { extraParams: { note: [TOKEN] } },
      { inputResponses: { name: { action: 'accept', content: { text: TOKEN } } } },
      { requestState: `state ${TOKEN}` },
    ];
    for (const way of ways)
      await expect(runtime.callTool('one', 'write', {}, { caller, ...way })).rejects.toMatchObject({
        code: 'CALL_DENIED',
      });
    await expect(
      runtime.readResource('one', 'doc://x', { caller, meta: { note: TOKEN } }),
    ).rejects.toMatchObject({ code: 'CALL_DENIED' });
    expect(server.calls).toEqual([]);
    await runtime.callTool('one', 'write', {}, { caller, meta: { note: 'plain' } });
    expect(server.calls).toEqual(['write']);
  });

  it('may be sent by the host, and by an agent if a rule about secrets allows it', async () => {
    const { call, server } = await open({ rules: [{ action: 'allow', tool: 'write', secrets: true }] });
    await call({ text: TOKEN });
    const host = await open();
    await host.runtime.callTool('one', 'write', { text: TOKEN });
    expect([server.calls, host.server.calls]).toEqual([['write'], ['write']]);
  });

  it('needs approval if a rule about secrets asks, and "always" creates a rule about secrets', async () => {
    const kept: unknown[] = [];
    const { call, runtime } = await open({
      approve: ({ arguments: args, reason }) => {
        expect([args, reason]).toEqual([{ text: '[redacted]' }, 'a rule requires approval']);
        return 'always';
      },
      onAlways: (rule) => void kept.push(rule),
    });
    runtime.setRules(placed([{ action: 'ask', secrets: true }, { action: 'allow' }]));
    await call({ text: TOKEN });
    expect(kept).toMatchObject([{ action: 'allow', tool: 'write', caller: 'agent', secrets: true }]);
  });

  it('is named as a reason in the explanation', async () => {
    const { runtime } = await open({
      rules: [
        { action: 'deny', secrets: true, tool: 'x*' },
        { action: 'ask', secrets: true },
      ],
    });
    const explanation = runtime.explain({ server: 'one', tool: 'read', arguments: {}, caller });
    expect(explanation.passed).toMatchObject([{ index: 1, because: 'secrets' }]);
  });

  it.each([
    ['postgres', 'select postgres from x', false],
    ['developmen', 'in developmen now', false],
    ['123456', 'number 123456', false],
    ['12345678', { n: 12_345_678 }, true],
    ['hunter2!', 'it is hunter2! yes', true],
    ['correcthorsebattery', 'correcthorsebattery', true],
    [TOKEN, { [TOKEN]: true }, true],
    [TOKEN, [[[[TOKEN]]]], true],
    [TOKEN, { text: [...TOKEN] }, false],
    [TOKEN, undefined, false],
    [TOKEN, [undefined, null, TOKEN], true],
  ])('%s in %j: %s', (secret, value, expected) => {
    const redactor = createRedactor();
    expect(redactor.knows(value)).toBe(false);
    redactor.learn(secret);
    expect(redactor.knows(value)).toBe(expected);
  });

  it('is found in cycles and at any depth', () => {
    const redactor = createRedactor();
    redactor.learn(TOKEN);
    const ring: Record<string, unknown> = { a: 1 };
    ring.self = ring;
    expect(redactor.knows(ring)).toBe(false);
    let deep: unknown = TOKEN;
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(redactor.knows(deep)).toBe(true);
  });
});

describe('the result of a server', () => {
  const TEXT = `its token is ${TOKEN}`;
  const RESULT = {
    content: [{ type: 'text', text: TEXT }],
    structuredContent: { deep: [{ password: 'hunter2', text: TEXT, count: 3 }] },
  };
  const READ = { contents: [{ uri: 'a:b', text: TEXT }] };
  const PROMPT = { messages: [{ role: 'user', content: { type: 'text', text: SHAPED } }] };

  async function answering(more: object) {
    const opened = await open({}, more);
    Object.assign(opened.server.answers, {
      'tools/call': RESULT,
      'resources/read': READ,
      'prompts/get': PROMPT,
    });
    const { runtime } = opened;
    const settled: unknown[] = [];
    runtime.on('call.settled', ({ result }) => settled.push(result));
    const results = [
      await runtime.callTool('one', 'write', {}, { caller }),
      await runtime.readResource('one', 'a:b', { caller }),
      await runtime.getPrompt('one', 'p', {}, { caller }),
    ];
    return { results, settled };
  }

  it('is passed on unchanged', async () => {
    const { results } = await answering({});
    expect(results).toEqual([RESULT, READ, PROMPT]);
  });

  it('is redacted if the configuration says so', async () => {
    const { results, settled } = await answering({ redactResults: true });
    const text = 'its token is [redacted]';
    expect(results).toEqual([
      {
        content: [{ type: 'text', text }],
        structuredContent: { deep: [{ password: '[redacted]', text, count: 3 }] },
      },
      { contents: [{ uri: 'a:b', text }] },
      { messages: [{ role: 'user', content: { type: 'text', text: '[redacted]' } }] },
    ]);
    expect(settled).toEqual(results);
  });

  it('is passed on unchanged if it is an input request, whose state must be returned', () => {
    const redactor = createRedactor();
    const question = { resultType: 'input_required', requestState: SHAPED, inputRequests: {} };
    expect(redactResult(question, redactor)).toBe(question);
    expect(redactResult({ text: SHAPED }, redactor)).toEqual({ text: '[redacted]' });
  });

  it('comes without secrets even if its server is removed from the configuration meanwhile', async () => {
    const CALLS = {
      tool: (runtime: Runtime) => runtime.callTool('one', 'write', {}, { caller }),
      resource: (runtime: Runtime) => runtime.readResource('one', 'a:b', { caller }),
      prompt: (runtime: Runtime) => runtime.getPrompt('one', 'p', {}, { caller }),
    };
    for (const [kind, call] of Object.entries(CALLS)) {
      const came: string[] = [];
      // At every moment of the call, in turns of the microtask queue.
      for (let turns = 0; turns < 40; turns += 1) {
        const { runtime, server } = await open({}, { redactResults: true });
        Object.assign(server.answers, {
          'tools/call': RESULT,
          'resources/read': READ,
          'prompts/get': PROMPT,
        });
        const calling = call(runtime).then(
          (result) => JSON.stringify(result),
          () => 'none',
        );
        for (let turn = 0; turn < turns; turn += 1) await undefined;
        await runtime.setServers({});
        came.push(await calling);
      }
      expect(came.join(), kind).toContain('[redacted]');
      expect(came.join(), kind).not.toMatch(new RegExp(`${TOKEN}|${SHAPED}|hunter2`));
    }
  });

  it('is validated before it is redacted', async () => {
    const { runtime, server } = await open({}, { redactResults: true });
    const outputSchema = {
      type: 'object',
      properties: { token: { type: 'string', pattern: '^kq7' } },
      required: ['token'],
    };
    server.tools = [toolNamed('write', { outputSchema })];
    await runtime.refresh('one');
    server.answers['tools/call'] = { content: [], structuredContent: { token: TOKEN } };
    expect(await runtime.callTool('one', 'write')).toMatchObject({
      structuredContent: { token: '[redacted]' },
    });
  });
});

describe('rules about secrets', () => {
  it.each([
    [{ action: 'deny', secrets: false }, 'rules[0].secrets'],
    [{ action: 'deny', secrets: 'yes' }, 'rules[0].secrets'],
  ])('have `secrets: true` or no such key: %j', async (rule, problem) => {
    const setting = await createSetting();
    await setting.write(setting.userFile, { rules: [rule] });
    const { rules, problems } = await setting.load();
    expect(problems[0]?.message).toContain(problem);
    expect(rules).toMatchObject([{ rule: { action: 'ask' } }]);
  });

  it('do not hide a tool', async () => {
    const { runtime } = await open({ rules: [{ action: 'deny', secrets: true }] });
    expect(runtime.toolsForAgent(caller).map(({ tool }) => tool)).toEqual(['read', 'write']);
  });
});

/** Checked by the compiler: the types allow these keys. */
export const written: ServerInput = { command: 'x', redactResults: true, labels: { 'a*': ['private'] } };
