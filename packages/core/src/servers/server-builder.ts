/** Makes the servers of a runtime: each with its guard, its connections, and what becomes of what it says. */
import type { SchemaChecks } from './catalog/check.js';
import type { Discovery } from './catalog/discovery.js';
import { ToolsApart } from './catalog/tools-apart.js';
import type { ServerConfig } from './config/schema.js';
import { secretValuesOf } from './config/secret-values.js';
import { Connection, type ConnectionOptions } from './connection/connection.js';
import type { EraVerdicts } from './connection/era-verdicts.js';
import { checkRoute } from './connection/gateway-route.js';
import type { ProcessTable } from './connection/processes.js';
import { RequestGuard } from './connection/request-guard.js';
import type { ConnectionApart } from './connections-apart.js';
import { toTurnbuckleError } from './errors.js';
import { Events } from './events.js';
import type { RuntimeLimits } from './limits.js';
import type { Redactor } from './observe/redact.js';
import { DEFAULT_BREAKER } from './resilience/breaker.js';
import type { ResourceWatch } from './resource-watch.js';
import type { RuntimeOptions } from './runtime-options.js';
import { Server } from './server.js';
import type { SignIns } from './sign-ins.js';
import { defaultStateDirectory } from './state-directory.js';

export interface ServerBuilderParts {
  readonly options: RuntimeOptions;
  readonly limits: RuntimeLimits;
  readonly events: Events;
  readonly redactor: Redactor;
  readonly now: () => number;
  readonly processes: ProcessTable;
  readonly verdicts: EraVerdicts;
  readonly checks: SchemaChecks;
  readonly discovery: Discovery;
  readonly watch: ResourceWatch;
  readonly signIns: SignIns;
}

const addressOf = (config: ServerConfig): string | undefined =>
  'url' in config ? config.url : 'baseUrl' in config ? config.baseUrl : undefined;

/** Who says something, and over what. */
interface Speaker {
  readonly connection: Connection;
  readonly requests: RequestGuard;
}

const CLIENT_INFO = { name: 'turnbuckle', version: '0.1.0' };

const MOST_SAID = 16 * 1_024;
const MARGIN = 2_048;

export class ServerBuilder {
  readonly #parts: ServerBuilderParts;

  constructor(parts: ServerBuilderParts) {
    this.#parts = parts;
  }

  create(name: string, config: ServerConfig): Server {
    const { options, limits } = this.#parts;
    const requests = new RequestGuard({
      server: name,
      address: addressOf(config),
      answers: options.handlers ?? {},
      callersAnswer: options.callersAnswer ?? false,
      mayAsk: config.mayAsk,
      limits,
      events: this.#parts.events,
      now: this.#parts.now,
    });
    const connection: Connection = new Connection({
      ...this.#connectionParts(name, config, requests),
      events: this.#parts.events,
      onOpen: (link) => {
        checkRoute(name, link.peer.capabilities, options.instance);
        return this.#parts.discovery.opened(name, link, config);
      },
      onReady: () => {
        server.breaker.succeed();
        void this.#parts.watch.renew(connection);
      },
      onNotice: (method, params) => this.#notice({ connection, requests }, method, params),
      onIdle: () => void connection.disconnect(),
    });
    const server = new Server(connection, {
      maxQueued: limits.maxQueued,
      breaker: { ...DEFAULT_BREAKER, ...options.breaker },
      requests,
      maxConnections: limits.maxConnections,
      connectApart: (onIdle) => this.#connectApart(connection, requests, onIdle),
    });
    return server;
  }

  /**
   * A connection of one agent or session. The server's state and its lists are told by the one that all know; but what a
   * tool is may differ from connection to connection, so what is called over this one is held to what was listed on it.
   */
  #connectApart(main: Connection, requests: RequestGuard, onIdle: () => void): ConnectionApart {
    const { name, config } = main;
    const tools = new ToolsApart({
      now: this.#parts.now,
      read: (link, reason) => this.#parts.discovery.toolsOf(name, { link, settings: config, reason }),
      link: () => connection.link,
      // The next call asks on a fresh link.
      onFailed: (link, error) => connection.reportBroken(link, toTurnbuckleError(error)),
    });
    const connection: Connection = new Connection({
      ...this.#connectionParts(name, config, requests),
      events: new Events(),
      onOpen: (link) => {
        checkRoute(name, link.peer.capabilities, this.#parts.options.instance);
        return tools.read(link, 'connected');
      },
      onReady: () => {},
      onNotice: (method, params) => {
        if (method !== 'notifications/tools/list_changed')
          return this.#tell({ connection, requests }, method, params);
        tools.noteChange();
      },
      onIdle,
    });
    return { connection, tools: () => tools.tools, relist: (link) => tools.read(link, 'asked') };
  }

  #connectionParts(
    name: string,
    config: ServerConfig,
    requests: RequestGuard,
  ): Omit<ConnectionOptions, 'events' | 'onOpen' | 'onReady' | 'onNotice' | 'onIdle'> {
    const { options, limits } = this.#parts;
    return {
      name,
      config,
      now: this.#parts.now,
      random: options.random ?? Math.random,
      link: {
        processes: this.#parts.processes,
        environment: options.environment ?? process.env,
        stateDir: options.stateDir ?? defaultStateDirectory(options.environment ?? process.env),
        maxMessageBytes: limits.maxMessageBytes,
        maxDepth: limits.maxDepth,
        notificationsPerSecond: limits.notificationsPerSecond,
        flood: limits,
        unsent: limits,
        random: options.random,
        expressLane: options.expressLane ?? true,
        clientInfo: options.clientInfo ?? CLIENT_INFO,
        verdicts: this.#parts.verdicts,
        requests,
        onStarting: () => void this.#parts.checks.load(),
        stderrListener: {
          isWanted: () => this.#parts.events.has('server.stderr'),
          onLine: (text, dropped) =>
            this.#parts.events.emit('server.stderr', {
              server: name,
              text: this.#parts.redactor.text(text),
              ...(dropped > 0 && { dropped }),
            }),
        },
        authorizer: (server, remote) => this.#parts.signIns.authorizer(server, remote),
      },
      resolve: () => this.resolve(name, config),
      redact: this.#parts.redactor.error,
    };
  }

  /** Filled in for a connection; what nobody else may see of it is known from then on. */
  async resolve(name: string, config: ServerConfig): Promise<ServerConfig> {
    const learn = (secret: string): void => this.#parts.redactor.learn(secret);
    const filled = (await this.#parts.options.resolve?.(name, config, learn)) ?? config;
    for (const secret of secretValuesOf(filled)) learn(secret);
    return filled;
  }

  #notice(speaker: Speaker, method: string, params: Readonly<Record<string, unknown>>): void {
    const { connection } = speaker;
    const server = connection.name;
    const source = { link: () => connection.link, settings: connection.config };
    if (this.#parts.discovery.noteChange(server, method, source)) return;
    if (method === 'notifications/resources/updated' && typeof params.uri === 'string') {
      this.#parts.events.emit('resource.updated', { server, uri: params.uri });
      this.#parts.watch.notify(server, params.uri);
    } else this.#tell(speaker, method, params);
  }

  /** Searched for secrets, and only its beginning: a server may say much, and often. */
  #said(data: unknown): unknown {
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    const { redactor } = this.#parts;
    if (text.length <= MOST_SAID) return redactor.value(data);
    // A secret on the edge is seen whole.
    const start = redactor.text(text.slice(0, MOST_SAID + MARGIN));
    return `${start.slice(0, MOST_SAID)}…`;
  }

  /** What a server says without naming a call goes to who is behind the only one on its way, if it is the only one. */
  #tell({ connection, requests }: Speaker, method: string, params: Readonly<Record<string, unknown>>): void {
    const told = connection.respondents.only;
    requests.notify(told, method, params);
    const { level = 'info', logger } = params;
    if (method !== 'notifications/message' || !this.#parts.events.has('server.notice')) return;
    this.#parts.events.emit('server.notice', {
      server: connection.name,
      level: String(level),
      ...(typeof logger === 'string' && { logger: this.#parts.redactor.text(logger) }),
      data: this.#said(params.data),
      told: told?.onNotice !== undefined,
    });
  }
}
