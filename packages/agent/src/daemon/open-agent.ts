/** An agent that runs: its thread, its loop, and what its routes need. */
import { randomUUID } from 'node:crypto';
import type { PartContext } from '@turnbuckle/gateway';
import { type ChatModel, createAiSdkModel, fillInKey } from '@turnbuckle/model';
import { logDirectory } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import { openStoreThread } from '../conversations/open-store-thread.js';
import { AgentLoop } from '../loop/agent-loop.js';
import type { AgentEvents, LoopClock } from '../loop/loop-parts.js';
import type { StewardLink } from '../loop/steward-link.js';
import { type AgentSettings, toAgentConfig } from '../settings/agent-settings.js';
import { ConversationFeed } from './conversation-feed.js';
import type { RouteParts } from './routes.js';

export interface OpenAgentOptions {
  readonly context: PartContext<AgentEvents>;
  readonly settings: AgentSettings;
  readonly steward: StewardLink | undefined;
  /** Replaces the model of the settings. */
  readonly model: ChatModel | undefined;
  readonly clock: LoopClock;
  readonly onConversationChanged: () => void;
}

export interface OpenAgent {
  readonly routeParts: RouteParts;
  /** Other settings are in effect. The name of the caller stays. */
  configure(settings: AgentSettings): void;
  close(): Promise<void>;
}

export async function openAgent(options: OpenAgentOptions): Promise<OpenAgent> {
  const { context, clock, steward } = options;
  const current = new CurrentSettings(options);
  const { caller } = current.config;
  const store = openStoreThread(
    { file: context.workFile, caller, logDirectory: logDirectory(context.stateDir), now: clock.now() },
    ({ message }) => context.publish('agent.failed', { code: 'INTERNAL', message }),
  );
  const feed = new ConversationFeed();
  const publish = <Name extends keyof AgentEvents>(name: Name, data: AgentEvents[Name]): void => {
    if ('conversation' in data) {
      options.onConversationChanged();
      feed.changed(data.conversation);
    }
    context.publish(name, data);
  };
  const { runtime } = context.configured;
  const [config, model] = [() => current.config, () => current.model];
  const parts = { store, runtime, config, model, clock, createId: randomUUID, publish };
  const loop = new AgentLoop({ ...parts, steward });
  try {
    // Everything that a process before this one left open is settled when this resolves.
    await store.run('energyState');
  } catch (error) {
    await store.close();
    throw error;
  }
  loop.start();
  const changed = (conversation: string): void => publish('agent.conversation', { conversation });
  const ending = new AbortController();
  return {
    routeParts: {
      ...parts,
      loop,
      feed,
      now: clock.now,
      redactSteps: (value) => runtime.redactSteps(value),
      publish: changed,
      ending: ending.signal,
    },
    configure: (settings) => {
      current.change(settings);
      loop.wake();
    },
    close: async () => {
      ending.abort();
      await loop.stop();
      await store.close();
    },
  };
}

/** The configuration and the model in effect. */
class CurrentSettings {
  readonly #options: OpenAgentOptions;
  readonly #caller: string;
  #text = '';
  #config: ReturnType<typeof toAgentConfig>;
  #model: ChatModel;

  constructor(options: OpenAgentOptions) {
    this.#options = options;
    const { settings } = options;
    this.#config = toAgentConfig(settings);
    this.#caller = this.#config.caller;
    this.#model = this.#openModel(settings);
    this.#text = JSON.stringify(settings);
  }

  get config() {
    return this.#config;
  }

  get model(): ChatModel {
    return this.#model;
  }

  change(settings: AgentSettings): void {
    const text = JSON.stringify(settings);
    if (text === this.#text) return;
    this.#text = text;
    this.#config = { ...toAgentConfig(settings), caller: this.#caller };
    this.#model = this.#openModel(settings);
  }

  #openModel(settings: AgentSettings): ChatModel {
    const { model: given, context } = this.#options;
    const { model } = settings;
    if (given !== undefined) return given;
    if (model === undefined) return { step: () => Promise.reject(noModel()) };
    const { environment, stateDir, configured } = context;
    const { secretCommand } = configured.config().settings;
    return createAiSdkModel({
      settings: model,
      key: 'agent.model',
      apiKey: () => fillInKey('agent.model', model.apiKey, { environment, stateDir, secretCommand }),
      timeoutMs: toAgentConfig(settings).modelTimeoutMs,
    });
  }
}

const noModel = (): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', 'The agent has no model.', {
    hint: 'Set agent.model in your config file, with provider, model and, for your own server, baseUrl.',
  });
