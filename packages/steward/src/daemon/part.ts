/** The steward as a part of the daemon. `subAgentEnabled: false` in a config file switches it off. */
import { createPart, type DaemonPart, type PartContext } from '@turnbuckle/gateway';
import {
  checkSandbox,
  createVault,
  type MentionableTool,
  packageRootOf,
  type StewardSettings,
  type Vault,
} from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import { INSTALL_SETTINGS_SCHEMA } from '../install/allow-list.js';
import { removePartials } from '../install/install-directory.js';
import type { PathPlace } from '../install/path-values.js';
import { removeQuarantines } from '../quarantine/open-quarantine.js';
import { configuredSources } from '../registry/configured-sources.js';
import type { StewardMessage } from '../requests/request-status.js';
import { pathPlace } from '../work/addition/field-answers.js';
import type { WorkSettings } from '../work/services.js';
import { type AgentLink, createAgentLink } from './agent-link.js';
import { watchUnknownTools } from './auto-discovery.js';
import { createStewardRoutes } from './routes.js';
import { StewardHost } from './steward-host.js';
import { createStewardTools } from './tools.js';

/** The events of the steward. */
export type StewardEvents = {
  /** Progress, results and errors of requests, and new tools. */
  readonly 'steward.message': StewardMessage;
};

const DEFAULT_WORKERS = 2;
const DEFAULT_APPROVAL_DAYS = 7;
const DAY_MS = 24 * 3_600_000;
const MAX_KNOWN_TOOLS = 5_000;
/** For npm, for the vault, and to find programs. */
const INHERITED = [
  'TURNBUCKLE_PASSPHRASE',
  'TURNBUCKLE_STATE_DIR',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'npm_config_registry',
  'npm_config_userconfig',
  'npm_config_cafile',
  'NODE_EXTRA_CA_CERTS',
  'DOCKER_HOST',
];

export interface StewardPartOptions {
  /** The directory and files that the daemon's configuration is read from. */
  readonly cwd: string;
  readonly files?: readonly string[] | undefined;
  readonly now?: (() => number) | undefined;
  /** Receives the steward once, for the agent. */
  readonly onLink?: ((link: AgentLink) => void) | undefined;
}

export const createStewardPart = (options: StewardPartOptions): DaemonPart =>
  createPart<StewardEvents>({
    name: 'steward',
    events: ['steward.message'],
    start: async (context) => {
      const steward = new StewardPart(options, context);
      await steward.update();
      const { runtime } = context.configured;
      const stops = [
        context.onConfigChanged(() => {
          steward.update().catch((error: unknown) => context.report(updateFailed(error)));
        }),
        watchUnknownTools({
          runtime,
          host: () => steward.host,
          isEnabled: () => context.configured.config().settings.autoDiscoveryEnabled === true,
          now: options.now ?? Date.now,
        }),
      ];
      return {
        routes: createStewardRoutes({
          host: () => steward.host,
          vault: () => steward.vault,
          place: () => steward.pathPlace(),
        }),
        close: async () => {
          for (const stop of stops) stop();
          await steward.close();
        },
      };
    },
  });

const updateFailed = (error: unknown) =>
  ({
    level: 'error',
    kind: 'steward-failed',
    text: `The steward could not apply the new configuration: ${error instanceof Error ? error.message : String(error)}`,
    next: 'Restart the daemon: turnbuckle serve restart',
  }) as const;

class StewardPart {
  host: StewardHost | undefined;
  readonly vault: Vault;
  readonly #options: StewardPartOptions;
  readonly #context: PartContext<StewardEvents>;
  readonly #link = createAgentLink(() => this.host);
  readonly #messages: ReturnType<PartContext['metrics']['counter']>;
  #settingsText = '';

  constructor(options: StewardPartOptions, context: PartContext<StewardEvents>) {
    this.#options = options;
    this.#context = context;
    options.onLink?.(this.#link);
    const { stateDir, environment, metrics } = context;
    this.vault = createVault({ stateDir, environment });
    this.#messages = metrics.counter(
      'turnbuckle_steward_messages_total',
      'Messages the steward sent about the requests it received, by type.',
    );
    metrics.gauge(
      'turnbuckle_steward_active',
      '1 while requests to the steward are queued or running.',
      () => (this.host?.isActive === true ? 1 : 0),
    );
  }

  /** Follows the configuration: switched on or off, or with other settings. */
  async update(): Promise<void> {
    const { settings } = this.#context.configured.config();
    const isEnabled = settings.subAgentEnabled !== false;
    if (!isEnabled) return this.close();
    const text = JSON.stringify(settings.steward ?? {});
    if (this.host === undefined) this.#open();
    else if (text !== this.#settingsText) await this.host.restart();
    this.#settingsText = text;
  }

  async close(): Promise<void> {
    const { host } = this;
    if (host === undefined) return;
    this.host = undefined;
    const { catalog } = this.#context.configured.runtime;
    for (const { name } of createStewardTools(host, this.#context.configured.runtime))
      catalog.unregister(name);
    await host.close();
  }

  pathPlace(): PathPlace {
    const { stateDir, environment } = this.#context;
    return pathPlace(environment, { stateDir, packageRoot: this.#packageRoot, configFile: this.#configFile });
  }

  get #packageRoot(): string {
    return packageRootOf(this.#context.stateDir);
  }

  get #configFile(): string {
    const { layers } = this.#context.configured.config();
    return layers.find(({ layer }) => layer.scope === 'user')?.layer.file ?? '';
  }

  #open(): void {
    const { workFile, report, configured, publish } = this.#context;
    const host = new StewardHost({
      file: workFile,
      workers: () => this.#settings.workers ?? DEFAULT_WORKERS,
      workSettings: () => this.#workSettings(),
      inheritEnv: INHERITED,
      now: this.#options.now,
      configuration: () => configured.config(),
      onMessage: (message) => {
        this.#messages.add({ type: message.type });
        publish('steward.message', message);
        // The agent hears of a new server when it can call its tools.
        if (message.type === 'tool_available') this.#link.keepBack(message, this.#connect(message));
        this.#link.followed(message);
      },
      onTrouble: ({ worker, how, stderr }) =>
        report({
          level: 'warn',
          kind: 'steward-failed',
          text: `A steward worker exited unexpectedly (${worker}: ${how}). ${stderr}`.trim(),
          next: 'Another worker continues its request. Check the requests: turnbuckle steward list',
        }),
      onFailure: ({ message, hint }) =>
        report({ level: 'error', kind: 'steward-failed', text: message, next: hint }),
    });
    this.host = host;
    for (const tool of createStewardTools(host, configured.runtime)) configured.runtime.registerTool(tool);
  }

  get #settings(): StewardSettings {
    return this.#context.configured.config().settings.steward ?? {};
  }

  async #workSettings(): Promise<WorkSettings> {
    const { stateDir, configured, environment } = this.#context;
    const { allow = [], minAgeDays, npmRegistry, origins, approvalDays, model } = this.#settings;
    const packageRoot = this.#packageRoot;
    // No worker runs yet: what is half installed or in quarantine was left by one that was killed.
    await Promise.all([removePartials(packageRoot), removeQuarantines(stateDir)]);
    return {
      stateDir,
      packageRoot,
      configFile: this.#configFile,
      cwd: this.#options.cwd,
      files: this.#options.files ?? [],
      environment: { ...environment },
      registries: configuredSources(configured.config(), environment),
      install: INSTALL_SETTINGS_SCHEMA.parse({
        allow,
        ...(minAgeDays !== undefined && { minAgeDays }),
        registries: {
          ...(npmRegistry !== undefined && { npm: npmRegistry }),
          ...(origins !== undefined && { mcpb: origins }),
        },
      }),
      model,
      secretCommand: configured.config().settings.secretCommand,
      pins: configured.config().settings.pins,
      approvalMs: (approvalDays ?? DEFAULT_APPROVAL_DAYS) * DAY_MS,
      hasSandbox: (await checkSandbox()).available,
      existing: this.#knownTools(),
    };
  }

  #knownTools(): readonly MentionableTool[] {
    const { runtime } = this.#context.configured;
    return runtime
      .tools()
      .slice(0, MAX_KNOWN_TOOLS)
      .map(({ name, server, tool }) => ({ name, server, tool }));
  }

  /** Its tools were pinned before it was configured: only what was tested is used without another approval. */
  async #connect({ data }: StewardMessage): Promise<void> {
    const { serverName } = Object(data) as { serverName?: unknown };
    if (typeof serverName !== 'string') return;
    const { configured, report } = this.#context;
    try {
      await configured.reload();
      await configured.runtime.connect(serverName);
    } catch (error) {
      // The daemon ends, or the steward was switched off.
      if (this.host === undefined) return;
      report({
        level: 'warn',
        kind: 'steward-failed',
        server: serverName,
        text: `The new server "${serverName}" cannot be used yet: ${error instanceof Error ? error.message : String(error)}`,
        next: `Try again: turnbuckle tools ${shellQuote(serverName)}`,
      });
    }
  }
}
