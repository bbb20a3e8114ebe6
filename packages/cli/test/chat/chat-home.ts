/** A home whose daemon has an agent with a scripted model on loopback. */
import {
  type Script,
  type ScriptedAnswer,
  type ScriptedRequest,
  startScriptedServer,
} from '@turnbuckle/model';
import { fixture } from '@turnbuckle/testing';
import { onTestFinished } from 'vitest';
import { createHome, type Home, json, type RunOptions, turnbuckle } from '../commands/turnbuckle.js';

export interface ShownConversation {
  readonly id: string;
  readonly title: string;
  readonly state: string;
}

const reply = (text: string): ScriptedAnswer => ({ calls: [{ name: 'respond', input: { text } }] });

/** "call" calls a tool that needs approval, "fail" is refused by the model's server; anything else is repeated. */
export function obedient({ messages }: ScriptedRequest): ScriptedAnswer {
  const { role = '', text = '' } = messages.at(-1) ?? {};
  if (role === 'tool') return reply(`result: ${text.slice(0, 500)}`);
  if (/fail/.test(text)) return { status: 401 };
  if (/^call/.test(text)) return { calls: [{ name: 'echo_echo', input: { text: 'called' } }] };
  return reply(`you said ${text}`);
}

export async function createChatHome(agent: object = {}, script: Script = obedient): Promise<Home> {
  const model = await startScriptedServer(script);
  onTestFinished(() => model.close());
  const home = await createHome({});
  await home.write('.config/turnbuckle/mcp.json', {
    servers: { echo: fixture('echo') },
    agent: { model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'm' }, ...agent },
  });
  return home;
}

export const chat = (words: readonly string[], options: RunOptions) =>
  turnbuckle(['chat', ...words], options);

export const listed = async (options: RunOptions): Promise<readonly ShownConversation[]> =>
  (await json<{ conversations: ShownConversation[] }>(['chat', '--list'], options)).conversations;
