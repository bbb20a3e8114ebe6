/** The agent as a part of the daemon: it follows the configuration, which switches it on and off. */
import { createPart, type DaemonPart, type PartContext } from '@turnbuckle/gateway';
import type { ChatModel } from '@turnbuckle/model';
import { TurnbuckleError } from 'turnbuckle';
import type { AgentEvents, LoopClock } from '../loop/loop-parts.js';
import type { StewardLink } from '../loop/steward-link.js';
import type { AgentSettings } from '../settings/agent-settings.js';
import { SYSTEM_CLOCK } from './agent-clock.js';
import { type OpenAgent, openAgent } from './open-agent.js';
import { createAgentRoutes, type RouteParts } from './routes.js';

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

/** Without settings, or with `enabled: false`, it does nothing, and its routes say so. */
export const createAgentPart = (options: AgentPartOptions): DaemonPart =>
  createPart<AgentEvents>({
    name: 'agent',
    events: EVENTS,
    start: async (context) => {
      const host = new AgentHost(options, context);
      await host.update();
      const stop = context.onConfigChanged(() => void host.update().catch((error) => host.failed(error)));
      return {
        routes: createAgentRoutes(() => host.required),
        close: async () => {
          stop();
          await host.close();
        },
      };
    },
  });

class AgentHost {
  readonly #options: AgentPartOptions;
  readonly #context: PartContext<AgentEvents>;
  #agent: OpenAgent | undefined;
  #addChange: (() => void) | undefined;
  /** Changes of the configuration, one after the other. */
  #updating: Promise<void> = Promise.resolve();

  constructor(options: AgentPartOptions, context: PartContext<AgentEvents>) {
    this.#options = options;
    this.#context = context;
  }

  /** PATH_UNKNOWN while it is off. */
  get required(): RouteParts {
    if (this.#agent !== undefined) return this.#agent.routeParts;
    throw this.#settings === undefined ? notConfigured() : disabled();
  }

  /** Switched on or off, or other settings. */
  update(): Promise<void> {
    this.#updating = this.#updating.catch(() => {}).then(() => this.#update());
    return this.#updating;
  }

  async close(): Promise<void> {
    await this.#updating.catch(() => {});
    await this.#end();
  }

  failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const text = `The agent could not apply the new configuration: ${message}`;
    this.#context.publish('agent.failed', { code: 'INTERNAL', message: text });
  }

  get #settings(): AgentSettings | undefined {
    const { settings } = this.#options;
    return settings === undefined ? this.#context.configured.config().settings.agent : settings();
  }

  async #update(): Promise<void> {
    const settings = this.#settings;
    if (settings !== undefined && settings.enabled !== false) {
      if (this.#agent === undefined) this.#agent = await this.#open(settings);
      else this.#agent.configure(settings);
      return;
    }
    await this.#end();
    // What it has paused would wait forever.
    const steward = this.#options.steward?.();
    await steward?.resume().catch((error: unknown) => this.failed(error));
  }

  async #end(): Promise<void> {
    const agent = this.#agent;
    this.#agent = undefined;
    await agent?.close();
  }

  #open(settings: AgentSettings): Promise<OpenAgent> {
    const { clock = SYSTEM_CLOCK, model, steward } = this.#options;
    return openAgent({
      context: this.#context,
      settings,
      steward: steward?.(),
      model,
      clock,
      onConversationChanged: this.#metrics(),
    });
  }

  /** Defined once, when there is an agent for the first time. */
  #metrics(): () => void {
    if (this.#addChange !== undefined) return this.#addChange;
    const { metrics } = this.#context;
    const changes = metrics.counter(
      'turnbuckle_agent_changes_total',
      "Changes to the agent's conversations.",
    );
    metrics.gauge(
      'turnbuckle_agent_energy',
      "The agent's energy.",
      () => this.#agent?.routeParts.loop.status.level ?? 0,
    );
    this.#addChange = () => changes.add();
    return this.#addChange;
  }
}

const disabled = (): TurnbuckleError =>
  new TurnbuckleError('PATH_UNKNOWN', 'The agent is disabled.', {
    hint: 'Enable it: remove "enabled": false from "agent" in your config file.',
  });

const notConfigured = (): TurnbuckleError =>
  new TurnbuckleError('PATH_UNKNOWN', 'The daemon has no agent.', {
    hint: 'Set agent.model in your config file. To try the agent without a model: turnbuckle chat --demo',
  });
