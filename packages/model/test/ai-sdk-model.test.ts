import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startAnthropicModel } from '@turnbuckle/testing';
import { TurnbuckleError } from 'turnbuckle';
import type { ModelSettings } from 'turnbuckle/host';
import { afterEach, describe, expect, it } from 'vitest';
import { createAiSdkModel } from '../src/ai-sdk-model.js';
import { createBoundedFetch } from '../src/bounded-fetch.js';
import type { ChatMessage, StepRequest } from '../src/chat-model.js';
import { type Script, type ScriptedRequest, startScriptedServer } from '../src/scripted-server.js';

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const TOOL = {
  name: 'demo_echo',
  description: 'Gives the text back',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
const HISTORY: readonly ChatMessage[] = [
  { role: 'system', text: 'rules' },
  { role: 'user', text: 'hello' },
  { role: 'assistant', text: '', toolCalls: [{ id: 'a-1', name: 'demo_echo', input: { text: 'x' } }] },
  { role: 'tool', outputs: [{ id: 'a-1', name: 'demo_echo', text: 'x' }] },
];

const request = (more: Partial<StepRequest> = {}): StepRequest => ({
  messages: HISTORY,
  tools: [TOOL],
  effort: { size: 'full', maxOutputTokens: 100 },
  signal: new AbortController().signal,
  ...more,
});

const modelAt = (settings: ModelSettings, { timeoutMs = 10_000, key = 'k-1' } = {}) =>
  createAiSdkModel({ settings, key: 'agent.model', timeoutMs, apiKey: async () => key });

async function scripted(script: Script): Promise<ModelSettings> {
  const { baseUrl, close } = await startScriptedServer(script);
  closers.push(close);
  return { provider: 'openai-compatible', baseUrl, model: 'big', smallModel: 'small' };
}

describe('a model with the wire of OpenAI', () => {
  it('gets messages, tools and limits, and returns text and calls', async () => {
    const seen: ScriptedRequest[] = [];
    const settings = await scripted((one) => {
      seen.push(one);
      return { text: 'a text', calls: [{ name: 'demo_echo', input: { text: 'y' } }] };
    });
    const outcome = await modelAt(settings).step(request());
    expect(outcome).toMatchObject({ text: 'a text', usage: { inputTokens: 10, outputTokens: 10 } });
    expect(outcome.toolCalls).toMatchObject([{ name: 'demo_echo', input: { text: 'y' } }]);
    expect(outcome.ms).toBeGreaterThan(0);
    expect(seen[0]).toMatchObject({ model: 'big', tools: ['demo_echo'], maxTokens: 100 });
    expect(seen[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    await modelAt(settings).step(request({ effort: { size: 'small', maxOutputTokens: 10 } }));
    expect(seen[1]).toMatchObject({ model: 'small', maxTokens: 10 });
  });

  it('may call a tool that does not exist: the loop answers that', async () => {
    const settings = await scripted(() => ({ calls: [{ name: 'nothing', input: {} }] }));
    expect((await modelAt(settings).step(request())).toolCalls).toMatchObject([{ name: 'nothing' }]);
  });

  it.each([
    [401, 'AUTH_FAILED'],
    [404, 'REQUEST_INVALID'],
    [429, 'RATE_LIMITED'],
    [503, 'CONNECT_FAILED'],
  ])('that responds with %i fails with %s, and is asked once', async (status, code) => {
    let count = 0;
    const settings = await scripted(() => {
      count += 1;
      return { status };
    });
    const failed = await modelAt(settings)
      .step(request())
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(TurnbuckleError);
    expect(failed).toMatchObject({ code, hint: expect.any(String) });
    expect(count).toBe(1);
  });

  it('that does not respond in time, or is not there, fails', async () => {
    const settings = await scripted(() => new Promise(() => {}));
    await expect(modelAt(settings, { timeoutMs: 50 }).step(request())).rejects.toMatchObject({
      code: 'CALL_TIMEOUT',
    });
    const gone = { ...settings, baseUrl: 'http://127.0.0.1:1/v1' };
    await expect(modelAt(gone).step(request())).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
    const { baseUrl: _baseUrl, ...nowhere } = settings;
    await expect(modelAt(nowhere).step(request())).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it.each([
    ['no choices', '{"choices":[]}'],
    ['no JSON', '<html>'],
    ['very deep arguments', deepCall()],
  ])('that answers with %s has responded', async (_what, body) => {
    const server = createServer((asked, response) => {
      asked.resume();
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(async () => void server.close());
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const settings = { provider: 'openai-compatible', baseUrl, model: 'm' } as const;
    await expect(modelAt(settings).step(request())).rejects.toMatchObject({
      code: 'RESULT_INVALID',
      message: expect.stringMatching(/gave a response that is not valid\.$/),
      hint: expect.stringContaining('baseUrl'),
    });
  });

  it('cannot send more than the limit', async () => {
    const { baseUrl } = await scripted(() => ({ text: 'x'.repeat(10_000) }));
    const response = await createBoundedFetch(1_000)(`${baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [] }),
    });
    await expect(response.text()).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' });
  });

  it('can stream', async () => {
    const { baseUrl } = await scripted(() => ({ text: 'hello', calls: [{ name: 'a', input: {} }] }));
    const body = JSON.stringify({ model: 'm', messages: [], stream: true });
    const text = await (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body })).text();
    expect(text).toContain('"content":"hello"');
    expect(text).toContain('[DONE]');
    expect((await fetch(`${baseUrl}/models`)).status).toBe(404);
    expect((await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: '{' })).status).toBe(400);
  });
});

/** Far deeper than any value that a person would write. */
function deepCall(): string {
  const call = { name: 'demo_echo', arguments: `{"text":${'['.repeat(200_000)}${']'.repeat(200_000)}}` };
  const message = {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: '1', type: 'function', function: call }],
  };
  return JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
}

describe('a model with the wire of Anthropic', () => {
  it('gets messages, tools and the key, and returns text and calls', async () => {
    const server = await startAnthropicModel(() => ({
      text: 'a text',
      calls: [{ name: 'demo_echo', input: { text: 'y' } }],
    }));
    closers.push(server.close);
    const settings = { provider: 'anthropic', baseUrl: server.baseUrl, model: 'm-1' } as const;
    const outcome = await modelAt(settings).step(request());
    expect(outcome).toMatchObject({ text: 'a text', usage: { inputTokens: 7, outputTokens: 5 } });
    expect(outcome.toolCalls).toMatchObject([{ name: 'demo_echo', input: { text: 'y' } }]);
    expect(server.requests[0]).toMatchObject({ model: 'm-1', key: 'k-1', tools: ['demo_echo'] });
    expect(JSON.stringify(server.requests[0]?.messages)).toContain('tool_result');
  });
});
