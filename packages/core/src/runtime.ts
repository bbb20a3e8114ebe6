/**
 * The runtime: wires the parts together and owns their end. Everything it does with a server goes through
 * the server's connection, everything it calls through the one path in call.ts.
 */
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/client';
import { Calls } from './call.js';
import { CallGuard, type DecisionRequest, type PolicySettings } from './call-guard.js';
import {
  type CallOptions,
  type CallRequest,
  checkName,
  checkOptions,
  type ReadRequest,
  type WaitLimits,
} from './call-request.js';
import { Catalog, type CatalogItem, type ListKind } from './catalog/catalog.js';
import { SchemaChecks } from './catalog/check.js';
import { Discovery } from './catalog/discovery.js';
import type { ToolIdentity } from './catalog/names.js';
import type { NativeTool } from './catalog/native.js';
import { searchSteps, searchWords } from './catalog/search-tools.js';
import type { CatalogTool } from './catalog/tool.js';
import type { ParsedServers } from './config/parse.js';
import type { PlacedRule } from './config/rule-schema.js';
import type { ServersInput } from './config/schema.js';
import { EraVerdicts } from './connection/era-verdicts.js';
import { routeFrom } from './connection/gateway-route.js';
import { ProcessTable } from './connection/processes.js';
import { TurnbuckleError, toTurnbuckleError } from './errors.js';
import { type EventName, Events, type Listener } from './events.js';
import { type Execution, toData, toolErrorText } from './execution.js';
import { isRecord } from './is-record.js';
import { atOnce, inSlices, type Steps } from './json/slices.js';
import { DEFAULT_LIMITS, type RuntimeLimits } from './limits.js';
import { createRedactor, type Redactor } from './observe/redact.js';
import { redactResult } from './observe/redact-result.js';
import { type Listed, type ListWish, type OfferedKind, Offerings } from './offerings.js';
import type { Pins } from './pins.js';
import type { Approvals } from './policy/approvals.js';
import type { Caller } from './policy/capabilities.js';
import type { Decision } from './policy/decide.js';
import type { Explanation } from './policy/explain.js';
import { FlowRuns } from './policy/flows.js';
import { CallClock } from './resilience/call-clock.js';
import { Limiter } from './resilience/limiter.js';
import { type ResourceListener, ResourceWatch } from './resource-watch.js';
import type { RuntimeOptions } from './runtime-options.js';
import { Sender } from './send.js';
import type { Server } from './server.js';
import { ServerBuilder } from './server-builder.js';
import { ServerSet, type SetServersResult } from './server-set.js';
import { type RemoteServer, type SignInRequest, type SignInStatus, SignIns } from './sign-ins.js';
import { defaultStateDirectory } from './state-directory.js';
import { redactStatus, type ServerStatus } from './status.js';

type ParseServers = (input: unknown) => ParsedServers;

export class Runtime {
  readonly catalog: Catalog;
  readonly #limits: RuntimeLimits;
  readonly #events = new Events();
  readonly #redactor: Redactor;
  readonly #runs: FlowRuns;
  readonly #now: () => number;
  readonly #processes = new ProcessTable();
  readonly #verdicts: EraVerdicts;
  readonly #checks = new SchemaChecks();
  readonly #discovery: Discovery;
  readonly #guard: CallGuard;
  readonly #servers: ServerSet;
  readonly #calls: Calls;
  readonly #offerings: Offerings;
  readonly #watch = new ResourceWatch(this.#events);
  readonly #signIns: SignIns;
  readonly #builder: ServerBuilder;
  readonly #parseServers: ParseServers;
  readonly #instance: string | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Use `createRuntime`. One that stands beside another knows its secrets and the same runs, and asks the same people:
   * for an agent, both are one.
   */
  constructor(options: RuntimeOptions, parseServers: ParseServers, beside?: Runtime) {
    this.#redactor = beside === undefined ? createRedactor() : beside.#redactor.beside();
    this.#runs = beside === undefined ? new FlowRuns() : beside.#runs;
    this.#parseServers = parseServers;
    this.#instance = options.instance;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#now = options.now ?? Date.now;
    const environment = options.environment ?? process.env;
    this.#verdicts = new EraVerdicts(options.stateDir ?? defaultStateDirectory(environment), this.#now);
    this.#signIns = new SignIns({
      stateDir: options.stateDir ?? defaultStateDirectory(environment),
      environment,
      vault: options.vault,
      prompts: options.signIn,
      now: this.#now,
      onSecret: (secret) => this.#redactor.learn(secret, 'signed-in'),
    });
    const naming = options.naming ?? 'mcp__server__tool';
    this.catalog = new Catalog(naming, this.#events, (...read) => this.#guard.pins.note(...read));
    this.#discovery = new Discovery({
      catalog: this.catalog,
      events: this.#events,
      now: this.#now,
      reading: { naming, describePrefix: options.describePrefix ?? false, limits: this.#limits },
      maxPages: this.#limits.maxPages,
      maxItems: this.#limits.maxToolsPerServer,
      maxDepth: this.#limits.maxDepth,
      listLimits: this.#limits,
      isKnown: (name, settings) => this.#servers.get(name)?.config === settings,
      prepare: (tool) => this.#guard.pins.prepare(tool),
    });
    this.#builder = new ServerBuilder({
      options,
      limits: this.#limits,
      events: this.#events,
      redactor: this.#redactor,
      now: this.#now,
      processes: this.#processes,
      verdicts: this.#verdicts,
      checks: this.#checks,
      discovery: this.#discovery,
      watch: this.#watch,
      signIns: this.#signIns,
    });
    this.#servers = new ServerSet({
      catalog: this.catalog,
      events: this.#events,
      maxServers: this.#limits.maxServers,
      create: (name, config) => this.#builder.create(name, config),
      onRemoved: (name) => {
        this.#discovery.forget(name);
        this.#events.emit('server.removed', { server: name });
      },
    });
    this.#guard = new CallGuard({
      catalog: this.catalog,
      events: this.#events,
      now: this.#now,
      stateDir: options.stateDir ?? defaultStateDirectory(environment),
      serverConfig: (name) => this.#servers.get(name)?.config,
      ownTools: (name, caller) => this.#servers.get(name)?.toolsFor(caller),
      redactor: (beside ?? this).#redactor,
      settings: options,
      runs: this.#runs,
      approvals: beside === undefined ? undefined : beside.#guard.approvals,
    });
    this.#offerings = new Offerings({
      catalog: this.catalog,
      discovery: this.#discovery,
      servers: this.#servers,
      guard: this.#guard,
      events: this.#events,
      now: this.#now,
    });
    this.#calls = new Calls({
      catalog: this.catalog,
      checks: this.#checks,
      events: this.#events,
      naming,
      guard: this.#guard,
      sender: new Sender({
        limiter: new Limiter(this.#limits),
        now: this.#now,
        signIn: this.#signIns.hasPrompts
          ? (server, error, asked) => this.#signIns.widen(server, error, asked)
          : undefined,
        hasNewSignIn: (server) => this.#signIns.hasNews(server.name),
        relist: (server, link) =>
          server.relistApart(link) ??
          this.#discovery.read(server.name, 'tools', { link, settings: server.config }),
      }),
      redact: this.#redactor.error,
      clean: (server, result) =>
        server?.config.redactResults === true ? redactResult(result, this.#redactor) : result,
      findServer: (name) => this.#servers.get(name),
      serverNames: () => this.#servers.names(),
      hasPrompt: async (server, name) => {
        const listed = await this.#offerings.list<Prompt>('prompts', { server });
        return listed.some((prompt) => prompt.name === name);
      },
      problemOf: (name) => this.#servers.problemOf(name),
      now: this.#now,
    });
    // What an earlier host that was killed left running; not before the host has gone on.
    setImmediate(() => this.#processes.sweepOrphans());
  }

  // --- events ----------------------------------------------------------------------------------------

  /** Listens; returns the function that stops it. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * A copy of any data without secrets: those that this runtime knows, and what looks like one. Of what is large, over 32
   * KB or so, a part of everything is left, as a person is shown it.
   */
  redact(value: unknown): unknown {
    return this.#redactor.value(value);
  }

  /** The same with all that there is, for `inSlices`: looking through much takes long. */
  redactSteps(value: unknown): Steps<unknown> {
    return this.#redactor.steps(value);
  }

  // --- servers ---------------------------------------------------------------------------------------

  /** Brings up all servers that start by themselves, in parallel. Never rejects: `status()` tells who failed. */
  async connectAll(): Promise<ServerStatus[]> {
    this.#assertOpen();
    await this.#servers.connectAll();
    return this.status();
  }

  /** Brings a server up, or fails when that takes longer than whoever asks waits; it comes up all the same. */
  async connect(server: string, limits: WaitLimits = {}): Promise<void> {
    this.#assertOpen();
    checkOptions(limits);
    const what = `the connection to server "${server}"`;
    return new CallClock(limits).until(this.#servers.connect(server), {
      what,
      server,
      signal: limits.signal,
    });
  }

  async disconnect(server: string): Promise<void> {
    return this.#servers.disconnect(server);
  }

  async reconnect(server: string): Promise<void> {
    this.#assertOpen();
    return this.#servers.reconnect(server);
  }

  async toggle(server: string, enabled: boolean): Promise<void> {
    this.#assertOpen();
    return this.#servers.toggle(server, enabled);
  }

  /** Takes over a new set of servers: what did not change is not touched. */
  async setServers(servers: ServersInput | ParsedServers): Promise<SetServersResult> {
    this.#assertOpen();
    return this.#servers.replace(this.#parse(servers));
  }

  /** Takes over the first set without starting anything. */
  adoptServers(servers: ServersInput | ParsedServers): void {
    this.#servers.adopt(this.#parse(servers));
  }

  /** Reads the lists of a server, or of all that are up, again. */
  async refresh(server?: string): Promise<void> {
    this.#assertOpen();
    const servers = server === undefined ? this.#servers.live() : [this.#servers.requireEnabled(server)];
    await this.#clean(Promise.all(servers.map((one) => this.#refresh(one))));
  }

  /** Asks a server for a sign of life now; true when one came. */
  async ping(server: string): Promise<boolean> {
    const { connection } = this.#servers.requireEnabled(server);
    await connection.open();
    return connection.health.ping();
  }

  // --- sign-in ---------------------------------------------------------------------------------------

  /** A person signs in at a server; false when it wants no sign-in, or has one that is good. */
  async signIn(server: string, request: SignInRequest = {}): Promise<boolean> {
    this.#assertOpen();
    return this.#clean(this.#signIns.signIn(this.#servers.require(server), request));
  }

  /** Forgets the sign-in at a server and tells its authorization server. */
  async signOut(server: string): Promise<{ readonly found: boolean; readonly revoked: boolean }> {
    const remote = await this.#remoteConfig(server);
    if (remote === undefined) return { found: false, revoked: false };
    return this.#clean(this.#signIns.signOut(this.#servers.require(server), remote));
  }

  /** How a server is told who asks, and until when that is good. Shows no token and asks nobody. */
  async signInStatus(server: string): Promise<SignInStatus> {
    const remote = await this.#remoteConfig(server);
    return remote === undefined
      ? { server, type: 'none', signedIn: false }
      : this.#signIns.status(server, remote);
  }

  /** The configuration of a server at which one can sign in, filled in. */
  async #remoteConfig(server: string): Promise<RemoteServer | undefined> {
    const { name, config } = this.#servers.require(server);
    const filled = await this.#builder.resolve(name, config);
    return filled.type === 'http' || filled.type === 'sse' || filled.type === 'websocket'
      ? filled
      : undefined;
  }

  /** The servers there are, without looking at how they are. */
  serverNames(): string[] {
    return this.#servers.names();
  }

  status(): ServerStatus[] {
    return this.#servers.status().map((status) => redactStatus(status, this.#redactor));
  }

  serverStatus(server: string): ServerStatus {
    return redactStatus(this.#servers.statusOf(server), this.#redactor);
  }

  /** What a gateway in front of these servers says of the way through it, for `capabilities.experimental`. */
  routeThrough(servers: readonly ServerStatus[]): Readonly<Record<string, unknown>> {
    if (this.#instance === undefined) return {};
    return routeFrom(
      this.#instance,
      servers.map(({ capabilities }) => capabilities),
    );
  }

  // --- tools -----------------------------------------------------------------------------------------

  /** Every tool there is now, sorted by name. Lists whose time has run out are read again behind it. */
  tools(): readonly CatalogTool[] {
    for (const server of this.#servers.live()) {
      if (this.catalog.stateOf(server.name, 'tools', this.#now()) === 'stale')
        void this.#refresh(server).catch(() => {});
    }
    return this.catalog.list();
  }

  /** The tools that this caller may see, or those of them with all these words: the same answer that a call would get. */
  toolsForAgent(agent: Caller, search = ''): readonly CatalogTool[] {
    const words = searchWords(search);
    return atOnce(searchSteps(this.#guard.visibleTo(agent, this.tools()), words));
  }

  /** The same without holding up the loop: the same array until something changes that it depends on. */
  async visibleTools(caller: Caller | undefined, search = ''): Promise<readonly CatalogTool[]> {
    const words = searchWords(search);
    const tools = this.tools();
    const visible = caller === undefined ? tools : await this.#offerings.visibleTools(caller);
    return inSlices(searchSteps(visible, words));
  }

  /** Adds a function of the host as a tool. */
  registerTool(tool: NativeTool): void {
    this.catalog.register(tool);
  }

  /** The MCP result unchanged; throws a TurnbuckleError when there is none. */
  async call(request: CallRequest): Promise<CallToolResult> {
    this.#assertOpen();
    return this.#calls.tool(request);
  }

  callTool(
    server: string,
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<CallToolResult> {
    return this.call({ ...options, server, tool, arguments: args });
  }

  /** Never throws: success or not, it is in the answer. */
  async execute(
    toolName: string,
    input: Readonly<Record<string, unknown>> = {},
    options?: CallOptions,
  ): Promise<Execution> {
    const started = performance.now();
    const requestId = options?.requestId ?? this.#calls.nextRequestId();
    let tool: ToolIdentity | undefined;
    const onFound = (found: ToolIdentity): void => {
      tool = found;
      options?.onFound?.(found);
    };
    const facts = (
      contentType: Execution['mcp']['contentType'],
      error?: TurnbuckleError,
    ): Execution['mcp'] => ({
      // Of a tool that its caller may not know, nothing is told but what was asked: the error has that.
      server: error === undefined ? tool?.server : error.server,
      tool: error === undefined ? tool?.tool : error.tool,
      responseTimeMs: performance.now() - started,
      contentType,
      requestId,
    });
    try {
      const result = await this.call({ ...options, requestId, onFound, tool: toolName, arguments: input });
      const { data, contentType } = toData(result);
      const success = result.isError !== true;
      return {
        toolName,
        success,
        result: data,
        error: success ? undefined : toolErrorText(result),
        failure: undefined,
        mcp: facts(contentType),
      };
    } catch (thrown) {
      const failure = toTurnbuckleError(thrown);
      return {
        toolName,
        success: false,
        result: undefined,
        error: failure.message,
        failure,
        mcp: facts(undefined, failure),
      };
    }
  }

  // --- who may call what -----------------------------------------------------------------------------

  /** What waits for a person's answer, the way to give it, and the way to ask for something else. */
  get approvals(): Pick<Approvals, 'pending' | 'whole' | 'answer' | 'abandon' | 'ask' | 'close'> {
    return this.#guard.approvals;
  }

  /** Which definitions of tools were approved. */
  get pins(): Pick<Pins, 'list' | 'pin' | 'unpin' | 'load'> {
    return this.#guard.pins;
  }

  /** The rules in effect, in the order in which they are asked. */
  get rules(): readonly PlacedRule[] {
    return this.#guard.rules;
  }

  /** Takes over other rules, and perhaps another default, for the next call on. */
  setRules(rules: readonly PlacedRule[], more?: PolicySettings): void {
    this.#guard.setRules(rules, more);
    if (rules.some(({ rule }) => rule.flags !== undefined)) this.catalog.wantFlags();
  }

  /** What would be decided about a call. Nothing is called, asked or recorded. */
  decide(request: DecisionRequest): Decision {
    return this.#guard.preview(request);
  }

  /** The same with the reason why: the rules that came near. */
  explain(request: DecisionRequest): Explanation {
    return this.#guard.explain(request);
  }

  /**
   * Whether a caller may know of something that was called. It need not be there now: where what it says of itself would
   * decide that, nobody but the host may.
   */
  mayKnow(request: DecisionRequest): boolean {
    return this.#guard.surelyKnows(request);
  }

  // --- resources and prompts -------------------------------------------------------------------------

  /** What a server, or all of them, offer; with a caller only what that caller may know. */
  listResources(server?: string, caller?: Caller, limits?: WaitLimits): Promise<Listed<Resource>[]> {
    return this.#list<Resource>('resources', { server, caller, limits });
  }

  listResourceTemplates(
    server?: string,
    caller?: Caller,
    limits?: WaitLimits,
  ): Promise<Listed<ResourceTemplateType>[]> {
    return this.#list<ResourceTemplateType>('templates', { server, caller, limits });
  }

  listPrompts(server?: string, caller?: Caller, limits?: WaitLimits): Promise<Listed<Prompt>[]> {
    return this.#list<Prompt>('prompts', { server, caller, limits });
  }

  /**
   * What of all servers a caller may know, without one everything, as they wrote it: the same array until something
   * changes that it depends on.
   */
  async visibleItems(kind: OfferedKind, caller?: Caller): Promise<readonly CatalogItem[]> {
    this.#assertOpen();
    return this.#clean(this.#offerings.visible(kind, caller));
  }

  async readResource(server: string, uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    this.#assertOpen();
    const result = await this.#calls.read({
      ...options,
      kind: 'resource',
      server,
      item: uri,
      method: 'resources/read',
      params: { uri },
    });
    return result as ReadResourceResult;
  }

  async getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<GetPromptResult> {
    this.#assertOpen();
    const params = { name, arguments: args };
    const result = await this.#calls.read({
      ...options,
      kind: 'prompt',
      server,
      item: name,
      method: 'prompts/get',
      params,
    });
    return result as GetPromptResult;
  }

  /** Any other request to a server, on the same path as a call: decided, guarded, limited, healed and recorded. */
  async request(request: ReadRequest): Promise<Readonly<Record<string, unknown>>> {
    this.#assertOpen();
    return this.#calls.read(request);
  }

  /** A session of a caller is over, or, without a run, the caller itself: connections that belonged to it alone end. */
  async endRun(caller: Caller): Promise<void> {
    await Promise.all(this.#servers.all().map((server) => server.forget(caller)));
  }

  /** Tells when a resource changes, across reconnects; returns the function that ends it. */
  async subscribeResource(
    server: string,
    uri: string,
    listener: ResourceListener,
  ): Promise<() => Promise<void>> {
    this.#assertOpen();
    checkName('The address of the resource', uri);
    const { connection } = this.#servers.require(server);
    await connection.open();
    try {
      if (this.#watch.add(server, uri, listener)) await this.#clean(connection.subscriptions?.add(uri));
    } catch (error) {
      // Else the next one who asks would be taken for the second, and nobody would tell the server.
      this.#watch.remove(server, uri, listener);
      throw error;
    }
    return async () => {
      if (this.#watch.remove(server, uri, listener)) await connection.subscriptions?.remove(uri);
    };
  }

  // --- the end ---------------------------------------------------------------------------------------

  /** Ends every connection; every process that was started is gone, with its descendants, when it resolves. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#servers.close(), this.#guard.close()])
      .then(() => Promise.all([this.#processes.close(), this.#signIns.close()]))
      .then(() => this.#verdicts.flush());
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  // --- inside ----------------------------------------------------------------------------------------

  #parse(servers: ServersInput | ParsedServers): ParsedServers {
    return isParsed(servers) ? servers : this.#parseServers(servers);
  }

  /** The same work; the error that it may end with holds no secret. */
  async #clean<Result>(work: Result | Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      throw error instanceof TurnbuckleError ? this.#redactor.error(error) : error;
    }
  }

  async #refresh({ name, connection, config }: Server): Promise<void> {
    const link = await connection.open();
    const kinds: ListKind[] = ['tools', 'resources', 'templates', 'prompts'];
    const known = kinds.filter(
      (kind) => kind === 'tools' || this.catalog.stateOf(name, kind, this.#now()) !== 'empty',
    );
    await Promise.all(known.map((kind) => this.#discovery.read(name, kind, { link, settings: config })));
  }

  /** Failures of servers are told like all others. */
  async #list<Item>(kind: OfferedKind, wish: ListWish): Promise<Listed<Item>[]> {
    this.#assertOpen();
    return this.#clean(this.#offerings.list<Item>(kind, wish));
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new TurnbuckleError('RUNTIME_CLOSED', 'The runtime is closed.', {
      hint: 'Create a new one with createRuntime().',
    });
  }
}

/** Told apart by its map: what people write has plain objects only. */
const isParsed = (servers: ServersInput | ParsedServers): servers is ParsedServers =>
  isRecord(servers) && servers.servers instanceof Map;
