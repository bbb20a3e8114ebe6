/** A daemon with an agent and a steward, as the command starts it: a model, a registry and packages on loopback. */
import { startDaemon } from '@turnbuckle/gateway';
import {
  type Script,
  type ScriptedAnswer,
  type ScriptedRequest,
  startScriptedServer,
} from '@turnbuckle/model';
import { REGISTRY_RECORDS, waitUntil } from '@turnbuckle/testing';
import {
  filesPackage,
  filesRecord,
  type Json,
  openStewardStage,
  type StagedDaemon,
  type StewardStage,
  type StewardStageOptions,
} from '../../../steward/test/daemon/stage.js';
import { createParts } from '../../src/serve/create-parts.js';

export interface ShownMessage {
  readonly number: number;
  readonly kind: string;
  readonly text: string;
  readonly tool?: string;
}

export interface AgentStats {
  readonly energy: {
    readonly level: number;
    readonly deducted: number;
    readonly consumed: { readonly model: number; readonly call: number; readonly steward: number };
  };
  readonly steward: { readonly hasWork: boolean; readonly isPaused: boolean };
}

export interface AgentStage extends StewardStage {
  /** The body of every request that the model got, as text. */
  readonly prompts: string[];
  /** Their Authorization headers. */
  readonly keys: Array<string | undefined>;
  say(text: string, conversation?: string): Promise<string>;
  messages(conversation: string): Promise<readonly ShownMessage[]>;
  /** Waits for a reply with this text, and returns it. */
  reply(conversation: string, text: string): Promise<string>;
  stats(): Promise<AgentStats>;
  /** Answers the pending approvals of calls. */
  answerCalls(answer: 'once' | 'deny'): Promise<number>;
}

export interface AgentStageOptions extends StewardStageOptions {
  readonly script: Script;
  /** The `agent` of the config file, without its model. */
  readonly agent?: Json;
  /** The `apiKey` of its model. */
  readonly modelKey?: string;
}

/** What every agent of these tests may see: all servers, and the tools of the steward. */
const CAPABILITIES = ['mcp_integration', 'mcp_steward'];

export async function openAgentStage({
  script,
  agent,
  modelKey,
  ...options
}: AgentStageOptions): Promise<AgentStage> {
  const prompts: string[] = [];
  const keys: Array<string | undefined> = [];
  const model = await startScriptedServer((request) => {
    prompts.push(JSON.stringify(request.body));
    keys.push(request.authorization);
    return script(request);
  });
  const stage = await openStewardStage({
    packages: [filesPackage()],
    records: [...REGISTRY_RECORDS, filesRecord()],
    ...options,
    config: {
      agent: {
        model: {
          provider: 'openai-compatible',
          baseUrl: model.baseUrl,
          model: 'big',
          smallModel: 'small',
          ...(modelKey !== undefined && { apiKey: modelKey }),
        },
        capabilities: CAPABILITIES,
        ...agent,
      },
      ...options.config,
    },
    open: (place): Promise<StagedDaemon> =>
      startDaemon({ version: '0.0.0', ...place, port: 0, parts: createParts({ cwd: place.cwd }) }),
  });
  const get = async <T>(path: string): Promise<T> => (await stage.api('GET', path)).body as T;
  const messages = async (conversation: string): Promise<readonly ShownMessage[]> =>
    (await get<{ messages: ShownMessage[] }>(`/conversations/${conversation}`)).messages;
  const closeStage = stage.close;
  return Object.assign(stage, {
    prompts,
    keys,
    messages,
    say: async (text: string, conversation?: string): Promise<string> => {
      const sent = await stage.api('POST', '/message', {
        text,
        ...(conversation !== undefined && { conversation }),
      });
      if (sent.status !== 200) throw new Error(JSON.stringify(sent));
      return String(sent.body.conversation);
    },
    reply: async (conversation: string, text: string): Promise<string> => {
      let found: ShownMessage | undefined;
      await waitUntil(async () => {
        found = (await messages(conversation)).find((one) => one.kind === 'reply' && one.text.includes(text));
        return found !== undefined;
      }, 60_000);
      return found?.text ?? '';
    },
    stats: () => get<AgentStats>('/agent/stats'),
    answerCalls: async (answer: 'once' | 'deny'): Promise<number> => {
      const { approvals } = await get<{ approvals: Json[] }>('/api/approvals');
      for (const { id } of approvals) await stage.api('POST', `/api/approvals/${String(id)}`, { answer });
      return approvals.length;
    },
    close: async () => {
      await closeStage();
      await model.close();
    },
  });
}

export const respond = (text: string): ScriptedAnswer => ({ calls: [{ name: 'respond', input: { text } }] });
export const callTool = (name: string, input: Json = {}): ScriptedAnswer => ({ calls: [{ name, input }] });
/** The last message of a request to the model: what it has to react to. */
export const lastOf = ({ messages }: ScriptedRequest) => messages.at(-1) ?? { role: '', text: '', calls: [] };

/** "call <tool> <JSON>" in a message of the user calls it, and its result is the reply; anything else is repeated. */
export function obedient(request: ScriptedRequest): ScriptedAnswer {
  const { role, text } = lastOf(request);
  if (role === 'tool') return respond(`result: ${text}`);
  const [, name, json = '{}'] = /^call (\S+) ?(.*)$/s.exec(text) ?? [];
  return name === undefined ? respond(`you said ${text}`) : callTool(name, JSON.parse(json) as Json);
}
