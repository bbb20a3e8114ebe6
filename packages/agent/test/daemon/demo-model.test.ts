import { type ChatMessage, createAiSdkModel } from '@turnbuckle/model';
import { expect, it } from 'vitest';
import { DEMO_MODEL, startDemoModel } from '../../src/daemon/demo-model.js';

const TOOL = {
  name: 'demo_echo',
  description: 'Gives the text back',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

it('answers, lists tools, calls one and says goodbye', async () => {
  const { baseUrl, close } = await startDemoModel();
  const model = createAiSdkModel({
    settings: { provider: 'openai-compatible', baseUrl, model: DEMO_MODEL },
    key: 'agent.model',
    apiKey: async () => undefined,
    timeoutMs: 10_000,
  });
  const send = async (...messages: ChatMessage[]) => {
    const effort = { size: 'full', maxOutputTokens: 100 } as const;
    const { signal } = new AbortController();
    return (await model.step({ messages, tools: [TOOL], effort, signal })).toolCalls;
  };
  const ask = (text: string) => send({ role: 'user', text });
  try {
    expect(await ask('hi')).toMatchObject([{ name: 'respond' }]);
    expect(JSON.stringify(await ask('which tools?'))).toContain('demo_echo');
    const call = { name: 'demo_echo', input: { text: 'x' } };
    expect(await ask('call demo_echo {"text":"x"}')).toMatchObject([call]);
    expect(JSON.stringify(await ask('call other_tool'))).toContain('There is no tool');
    expect(JSON.stringify(await ask('call demo_echo [1]'))).toContain('JSON object');
    expect(await ask('goodbye')).toMatchObject([{ name: 'respond' }, { name: 'end_conversation' }]);
    const answered = await send(
      { role: 'user', text: 'hello' },
      { role: 'assistant', text: '', toolCalls: [{ id: 'a-1', ...call }] },
      { role: 'tool', outputs: [{ id: 'a-1', name: 'demo_echo', text: 'x' }] },
    );
    expect(answered).toMatchObject([{ name: 'respond', input: { text: 'The tool returned: x' } }]);
  } finally {
    await close();
  }
});
