/** Creates the servers of a runtime: each with its guard, its connections, and handlers for its messages. */

import type { SignInOwner, SignIns } from '../auth/sign-ins.js';
import { DedicatedTools } from '../catalog/dedicated-tools.js';
import type { Discovery } from '../catalog/discovery.js';
import type { SchemaChecks } from '../catalog/schemas/schema-checks.js';
import { applyCredentials, selectCredentials } from '../config/credentials.js';
import type { ServerConfig } from '../config/schema/schema.js';
import { Connection, type ConnectionOptions } from '../connection/connection.js';
import type { EraVerdicts } from '../connection/handshake/era-verdicts.js';
import { assertNoGatewayLoop } from '../connection/handshake/gateway-route.js';
import type { ProcessTable } from '../connection/processes/process-table.js';
import { RequestGuard } from '../connection/server-requests/request-guard.js';
import { toTurnbuckleError } from '../errors.js';
import { Events, type RuntimeEvents } from '../events.js';
import { defaultStateDirectory } from '../files/state-directory.js';
import type { Redactor } from '../redaction/redactor.js';
import { secretValuesOf, writtenSecretsOf } from '../redaction/secret-values.js';
import { DEFAULT_BREAKER } from '../resilience/breaker.js';
import type { ConnectionRequest, DedicatedConnection } from './dedicated-connections.js';
import type { RuntimeLimits } from './limits.js';
import { type ResourceWatch, watchKey } from './resource-watch.js';
import { Server, signInOwnerOf } from './server.js';
import type { ServerSettings } from './server-settings.js';

export interface ServerBuilderParts {
  readonly options: ServerSettings;
  readonly limits: RuntimeLimits;
  readonly events: Events;
  readonly redactor: Redactor;
  /** For timestamps. */
  readonly now: () => number;
  /** For durations. */
  readonly monotonicNow: () => number;
  readonly processes: ProcessTable;
  readonly verdicts: EraVerdicts;
  readonly checks: SchemaChecks;
  readonly discovery: Discovery;
  readonly watch: ResourceWatch;
  readonly signIns: SignIns;
}

const addressOf = (config: ServerConfig): string | undefined =>
  'url' in config ? config.url : 'baseUrl' in config ? config.baseUrl : undefined;

/** Whose connection it is, as events name it. */
type EventOwner = Pick<RuntimeEvents['server.notice'], 'connectionOf'>;

/** Which server sent a message, and on which connection. */
interface NoticeSource {
  readonly connection: Connection;
  readonly requests: RequestGuard;
  readonly eventOwner: EventOwner;
}

/** If callers have connections of their own, this one is used by the host alone. */
const eventOwnerOfMain = ({ share }: ServerConfig): EventOwner =>
  share === 'shared' ? {} : { connectionOf: 'host' };

const CLIENT_INFO = { name: 'turnbuckle', version: '0.1.0' };

const MAX_NOTICE_CHARACTERS = 16 * 1_024;
const REDACTION_MARGIN_CHARACTERS = 2_048;

export class ServerBuilder {
  readonly #parts: ServerBuilderParts;

  constructor(parts: ServerBuilderParts) {
    this.#parts = parts;
  }

  create(name: string, config: ServerConfig): Server {
    const { options, limits, redactor } = this.#parts;
    // Before it connects, and for every caller: what is written is a secret from now on.
    for (const secret of writtenSecretsOf(config)) redactor.learn(secret);
    const requests = new RequestGuard({
      server: name,
      address: addressOf(config),
      answers: options.handlers ?? {},
      callersCanAnswer: options.callersAnswer ?? false,
      mayAsk: config.mayAsk,
      limits,
      events: this.#parts.events,
      now: this.#parts.monotonicNow,
    });
    const eventOwner = eventOwnerOfMain(config);
    const connection: Connection = new Connection({
      ...this.#connectionParts({ name, eventOwner }, config, requests),
      events: this.#parts.events,
      onOpen: (link) => {
        assertNoGatewayLoop(name, link.peer.capabilities, options.instance);
        return this.#parts.discovery.onOpened(name, link, config);
      },
      onReady: () => {
        server.breaker.succeed();
        void this.#parts.watch.renew({ connection, key: watchKey(name) });
      },
      onNotice: (method, params) => this.#onNotice({ connection, requests, eventOwner }, method, params),
      onIdle: () => void connection.disconnect(),
    });
    const server = new Server(connection, {
      maxQueued: limits.maxQueued,
      breaker: { ...DEFAULT_BREAKER, ...options.breaker },
      requests,
      maxConnections: limits.maxConnections,
      connectDedicated: (request) => this.#connectDedicated(connection, requests, request),
    });
    return server;
  }

  /**
   * A connection for one agent or session. State and lists come from the shared connection, but a tool may differ
   * between connections: calls on this one are validated against its own list.
   */
  #connectDedicated(
    { name, config }: Connection,
    requests: RequestGuard,
    { key: dedicated, agent, connectionOf, onIdle }: ConnectionRequest,
  ): DedicatedConnection {
    const { watch } = this.#parts;
    const key = watchKey(name, dedicated);
    const eventOwner = { connectionOf };
    const tools = new DedicatedTools({
      now: this.#parts.monotonicNow,
      read: (link, reason) =>
        this.#parts.discovery.readDedicatedTools({ name, agent }, { link, settings: config, reason }),
      link: () => connection.link,
      // The next call lists again on a new link.
      onFailed: (link, error) => connection.reportBroken(link, toTurnbuckleError(error)),
    });
    const connection: Connection = new Connection({
      ...this.#connectionParts({ name, agent, eventOwner }, config, requests),
      events: new Events(),
      onOpen: (link) => {
        assertNoGatewayLoop(name, link.peer.capabilities, this.#parts.options.instance);
        return tools.read(link, 'connected');
      },
      onReady: () => void watch.renew({ connection, key }),
      onNotice: (method, params) => {
        if (method === 'notifications/tools/list_changed') return tools.onListChanged();
        const uri = updatedResource(method, params);
        if (uri === undefined || !watch.notify(key, uri))
          this.#forwardNotice({ connection, requests, eventOwner }, method, params);
      },
      onIdle,
    });
    return { connection, tools: () => tools.tools, relist: (link) => tools.read(link, 'asked') };
  }

  #connectionParts(
    owner: SignInOwner & { readonly eventOwner: EventOwner },
    config: ServerConfig,
    requestGuard: RequestGuard,
  ): Omit<ConnectionOptions, 'events' | 'onOpen' | 'onReady' | 'onNotice' | 'onIdle'> {
    const { options, limits, redactor } = this.#parts;
    const { telemetry } = options;
    const { name } = owner;
    return {
      name,
      config,
      now: this.#parts.now,
      monotonicNow: this.#parts.monotonicNow,
      random: options.random ?? Math.random,
      link: {
        agent: owner.agent,
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
        requestGuard,
        telemetry: telemetry && { telemetry, redact: redactor.text },
        onStarting: () => void this.#parts.checks.load(),
        stderrListener: {
          isWanted: () => this.#parts.events.has('server.stderr'),
          onLine: (text, dropped) =>
            this.#parts.events.emit('server.stderr', {
              server: name,
              text: redactor.text(text),
              ...owner.eventOwner,
              ...(dropped > 0 && { dropped }),
            }),
        },
        authorizer: (_server, remote) =>
          this.#parts.signIns.authorizer(signInOwnerOf({ name, config }, owner.agent), remote),
      },
      resolve: () => this.resolve(owner, config),
      redact: redactor.error,
    };
  }

  /**
   * Fills in the placeholders for a connection, with the values of the agent if there is one, and registers the secrets
   * for redaction.
   */
  async resolve({ name, agent }: SignInOwner, config: ServerConfig): Promise<ServerConfig> {
    const learn = (secret: string): void => this.#parts.redactor.learn(secret);
    const selected = selectCredentials(config, agent);
    const resolved = (await this.#parts.options.resolve?.(name, selected, learn)) ?? selected;
    const filled = applyCredentials(resolved, agent);
    for (const secret of secretValuesOf(filled)) learn(secret);
    return filled;
  }

  #onNotice(speaker: NoticeSource, method: string, params: Readonly<Record<string, unknown>>): void {
    const { connection } = speaker;
    const server = connection.name;
    const source = { link: () => connection.link, settings: connection.config };
    if (this.#parts.discovery.onNotification(server, method, source)) return;
    const uri = updatedResource(method, params);
    if (uri !== undefined) {
      this.#parts.events.emit('resource.updated', { server, uri });
      this.#parts.watch.notify(watchKey(server), uri);
    } else this.#forwardNotice(speaker, method, params);
  }

  /** Redacted and truncated: a server may send a lot. */
  #redactNotice(data: unknown): unknown {
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    const { redactor } = this.#parts;
    if (text.length <= MAX_NOTICE_CHARACTERS) return redactor.value(data);
    // Longer than the limit, so that a secret at the edge is found.
    const start = redactor.text(text.slice(0, MAX_NOTICE_CHARACTERS + REDACTION_MARGIN_CHARACTERS));
    return `${start.slice(0, MAX_NOTICE_CHARACTERS)}…`;
  }

  /** A message without a call goes to the caller of the only call in flight, if there is exactly one. */
  #forwardNotice(
    { connection, requests, eventOwner }: NoticeSource,
    method: string,
    params: Readonly<Record<string, unknown>>,
  ): void {
    const responder = connection.responders.unambiguous;
    requests.notify(responder, method, params);
    const { level = 'info', logger } = params;
    if (method !== 'notifications/message' || !this.#parts.events.has('server.notice')) return;
    this.#parts.events.emit('server.notice', {
      server: connection.name,
      level: String(level),
      ...(typeof logger === 'string' && { logger: this.#parts.redactor.text(logger) }),
      data: this.#redactNotice(params.data),
      told: responder?.onNotice !== undefined,
      ...eventOwner,
    });
  }
}

const updatedResource = (method: string, { uri }: Readonly<Record<string, unknown>>): string | undefined =>
  method === 'notifications/resources/updated' && typeof uri === 'string' ? uri : undefined;
