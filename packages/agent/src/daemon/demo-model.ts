/** A model for trying out the agent with no model at hand: it follows a few rules, and says so. */
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  type ScriptedServer,
  startScriptedServer,
} from '@turnbuckle/model';

export const DEMO_MODEL = 'demo';

/** Starts it on a free port of this machine: the settings of the agent get its `baseUrl` and DEMO_MODEL. */
export const startDemoModel = (): Promise<ScriptedServer> => startScriptedServer(answerAsDemo);

const INTRODUCTION =
  'I am a demo without a language model. Ask me for my "tools", or write "call <tool> <JSON>" to call a tool.';

function answerAsDemo({ messages, tools }: ScriptedRequest): ScriptedAnswer {
  const last = messages.at(-1);
  const callable = tools.filter((name) => name.includes('_') && !BUILT_IN.has(name));
  if (last?.role === 'tool') return respond(`The tool returned: ${plain(last.text).slice(0, 1_000)}`);
  const asked = last?.role === 'user' ? last.text.trim() : '';
  const [, name = '', json = '{}'] = /^call\s+(\S+)\s*(.*)$/s.exec(asked) ?? [];
  if (name !== '')
    return callable.includes(name) ? callTool(name, json) : respond(`There is no tool "${name}".`);
  if (/\btools?\b/i.test(asked))
    return respond(
      callable.length === 0 ? 'I have no tools.' : `My tools: ${callable.slice(0, 50).join(', ')}.`,
    );
  if (/\b(bye|goodbye)\b/i.test(asked))
    return {
      calls: [...respondCalls('Goodbye.'), { name: 'end_conversation', input: { reason: 'goodbye' } }],
    };
  return respond(`You wrote: "${asked.slice(0, 500)}". ${INTRODUCTION}`);
}

/** Without the marks around what a tool returned. */
const plain = (text: string): string => text.replace(/^<data[^>]*>\n|\n<\/data>$/g, '');

const BUILT_IN = new Set(['await_energy', 'select_conversation', 'end_conversation', 'snooze_conversation']);

const respondCalls = (text: string) => [{ name: 'respond', input: { text } }];
const respond = (text: string): ScriptedAnswer => ({ calls: respondCalls(text) });

function callTool(name: string, json: string): ScriptedAnswer {
  try {
    const input: unknown = JSON.parse(json.trim() === '' ? '{}' : json);
    if (typeof input === 'object' && input !== null && !Array.isArray(input))
      return { calls: [{ name, input: input as Record<string, unknown> }] };
  } catch {
    // Reported below.
  }
  return respond('The arguments must be a JSON object.');
}
