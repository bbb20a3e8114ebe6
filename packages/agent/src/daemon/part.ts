/** The agent as a part of the daemon: its thread, its loop, its routes. */
import { randomUUID } from 'node:crypto';
import { createPart, type DaemonPart, type PartContext, type RunningPart } from '@turnbuckle/gateway';
import { type ChatModel, createAiSdkModel, fillInKey } from '@turnbuckle/model';
import { logDirectory } from '@turnbuckle/store';
import { TurnbuckleError } from 'turnbuckle';
import { openStoreThread } from '../conversations/open-store-thread.js';
import { AgentLoop } from '../loop/agent-loop.js';
import type { AgentEvents, LoopClock } from '../loop/loop-parts.js';
import type { StewardLink } from '../loop/steward-link.js';
import { type AgentSettings, toAgentConfig } from '../settings/agent-settings.js';
import { SYSTEM_CLOCK } from './agent-clock.js';
import { ConversationFeed } from './conversation-feed.js';
import { createAgentRoutes } from './routes.js';

export interface AgentPartOptions {
  /** Instead of the `agent` of the files; read again when the configuration changes. Undefined: no agent. */
  readonly settings?: (() => AgentSettings | undefined) | undefined;
  /** Called when the part starts, after the steward's part. */
  readonly steward?: (() => StewardLink | undefined) | undefined;
  /** Replaces the model of the settings. */
  readonly model?: ChatModel | undefined;
  readonly clock?: LoopClock | undefined;
}

const EVENTS: ReadonlyArray<keyof AgentEvents> = [
  'agent.conversation',
  'agent.energy',
  'agent.steward',
  'agent.failed',
];

/** Without settings, or with `enabled: false`, it has no routes and does nothing. */
export const createAgentPart = (options: AgentPartOptions): DaemonPart =>
  createPart<AgentEvents>({
    name: 'agent',
    events: EVENTS,
    start: (context) => startAgent(options, context),
  });

async function startAgent(
  options: AgentPartOptions,
  context: PartContext<AgentEvents>,
): Promise<RunningPart> {
  const settings = options.settings ?? (() => context.configured.config().settings.agent);
  const first = settings();
  if (first === undefined || first.enabled === false) return { routes: [], close: async () => {} };
  const { clock = SYSTEM_CLOCK } = options;
  const current = followSettings({ ...options, settings }, context, first);
  const { caller } = current.config();
  const store = openStoreThread(
    { file: context.workFile, caller, logDirectory: logDirectory(context.stateDir), now: clock.now() },
    ({ message }) => context.publish('agent.failed', { code: 'INTERNAL', message }),
  );
  const feed = new ConversationFeed();
  const steps = context.metrics.counter(
    'turnbuckle_agent_changes_total',
    'Changes of conversations of the agent.',
  );
  const publish = <Name extends keyof AgentEvents>(name: Name, data: AgentEvents[Name]): void => {
    if ('conversation' in data) {
      steps.add();
      feed.changed(data.conversation);
    }
    context.publish(name, data);
  };
  const { runtime } = context.configured;
  const { config, model } = current;
  const parts = { store, runtime, config, model, clock, createId: randomUUID, publish };
  const loop = new AgentLoop({ ...parts, steward: options.steward?.() });
  context.metrics.gauge('turnbuckle_agent_energy', 'Energy of the agent.', () => loop.status.level);
  try {
    // Everything that a process before this one left open is settled when this resolves.
    await store.run('energyState');
  } catch (error) {
    await store.close();
    throw error;
  }
  loop.start();
  const changed = (conversation: string): void => publish('agent.conversation', { conversation });
  return {
    routes: createAgentRoutes({
      ...parts,
      loop,
      feed,
      now: clock.now,
      redactSteps: (value) => runtime.redactSteps(value),
      publish: changed,
    }),
    close: async () => {
      current.stop();
      await loop.stop();
      await store.close();
    },
  };
}

/** The configuration and the model in effect. The name of the caller stays until the daemon is restarted. */
function followSettings(
  { settings, model: given }: AgentPartOptions & Required<Pick<AgentPartOptions, 'settings'>>,
  context: PartContext<AgentEvents>,
  first: AgentSettings,
) {
  const fixed = { caller: toAgentConfig(first).caller };
  const read = (now: AgentSettings) => ({
    text: JSON.stringify(now),
    config: { ...toAgentConfig(now), ...fixed },
    model: given ?? openModel(now, context),
  });
  let inEffect = read(first);
  const stop = context.onConfigChanged(() => {
    const now = settings?.();
    // An agent that was removed from the file ends with the daemon.
    if (now !== undefined && JSON.stringify(now) !== inEffect.text) inEffect = read(now);
  });
  return { config: () => inEffect.config, model: () => inEffect.model, stop };
}

function openModel(settings: AgentSettings, context: PartContext<AgentEvents>): ChatModel {
  const { model } = settings;
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

const noModel = (): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', 'The agent has no model.', {
    hint: 'Set agent.model in your config file, with provider, model and, for your own server, baseUrl.',
  });
