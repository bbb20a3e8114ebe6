/**
 * The runtime connects the parts and owns their lifetime. Servers are reached through their connections, and calls
 * take the single path in call.ts.
 */
import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/client';
import type { Approvals } from '../approvals/approvals.js';
import type { Pins } from '../approvals/pins.js';
import type { SignInRequest, SignInStatus } from '../auth/sign-ins.js';
import type { PolicySettings } from '../calls/authorization/effective-policy.js';
import type { DecisionRequest } from '../calls/authorization/preview.js';
import {
  type CallOptions,
  type CallRequest,
  promptRead,
  type ReadRequest,
  type RefusedCall,
  resourceRead,
  toCallRequest,
  type WaitLimits,
} from '../calls/call-request.js';
import { type Execution, toExecution } from '../calls/execution.js';
import type { Catalog, CatalogItem } from '../catalog/catalog.js';
import type { NativeTool } from '../catalog/native.js';
import type { CatalogTool } from '../catalog/tool.js';
import type { ParsedServers } from '../config/layers/parse.js';
import type { PlacedRule } from '../config/schema/rule-schema.js';
import type { ServerInput, ServersInput } from '../config/schema/schema.js';
import type { Energy } from '../energy/energy.js';
import type { EventName, Listener } from '../events.js';
import type { Steps } from '../json/slices.js';
import type { Caller } from '../policy/capabilities.js';
import type { Decision } from '../policy/decide.js';
import type { Explanation } from '../policy/explain.js';
import type { ResourceListener } from '../servers/resource-watch.js';
import type { SetServersResult } from '../servers/server-set.js';
import type { ServerStatus } from '../servers/server-status.js';
import type { ItemKind, Listed, ListQuery } from './item-lists.js';
import type { ParseServers, WiredOptions } from './options.js';
import { redactErrors } from './redact-errors.js';
import { runtimeClosed } from './runtime-closed.js';
import type { ConnectOptions } from './server-operations.js';
import type { SignInSelection } from './sign-in-operations.js';
import { closeParts, type RuntimeParts, wire } from './wire.js';

export class Runtime {
  readonly catalog: Catalog;
  readonly #parts: RuntimeParts;
  readonly #parseServers: ParseServers;
  #closing: Promise<void> | undefined;

  /** Use `createRuntime`. A sibling shares secrets, runs and approvers with this one: for an agent, both are one. */
  constructor(options: WiredOptions, parseServers: ParseServers, sibling?: Runtime) {
    this.#parts = wire(options, sibling === undefined ? undefined : sibling.#parts);
    this.catalog = this.#parts.catalog;
    this.#parseServers = parseServers;
    this.#parts.processes.sweepOrphansSoon();
  }

  // --- events ----------------------------------------------------------------------------------------

  /** Adds a listener; returns a function that removes it. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    return this.#parts.events.on(name, listener);
  }

  /**
   * A redacted copy of any data: without known secrets and anything that looks like one. Data above about 32 KB is
   * truncated as for display.
   */
  redact(value: unknown): unknown {
    return this.#parts.redactor.value(value);
  }

  /** Redacts this value from now on, and denies it to agents: for secrets of the host. A sibling only redacts it. */
  learnSecret(secret: string, bringer?: string): void {
    this.#parts.redactor.learn(secret, undefined, bringer);
  }

  /** The same without truncation, for `inSlices`: large data takes long. */
  redactSteps(value: unknown): Steps<unknown> {
    return this.#parts.redactor.steps(value);
  }

  /** True if it contains a known secret: one of the configuration, or of a sign-in. */
  knowsSecret(value: unknown): boolean {
    return this.#parts.redactor.knows(value);
  }

  // --- servers ---------------------------------------------------------------------------------------

  /** Connects all eager servers in parallel. Never rejects: `status()` shows failures. */
  async connectAll(): Promise<ServerStatus[]> {
    await this.#open.servers.connectAll();
    return this.status();
  }

  /** Connects a server, or fails when the time limit is reached; the server continues to connect. */
  async connect(server: string, options: ConnectOptions = {}): Promise<void> {
    return this.#open.operations.connect(server, options);
  }

  async disconnect(server: string): Promise<void> {
    return this.#parts.servers.disconnect(server);
  }

  /** Closes the connections of all servers; the next call to one opens it again. */
  async disconnectAll(): Promise<void> {
    return this.#parts.servers.disconnectAll();
  }

  async reconnect(server: string): Promise<void> {
    return this.#open.servers.reconnect(server);
  }

  async toggle(server: string, enabled: boolean): Promise<void> {
    return this.#open.servers.toggle(server, enabled);
  }

  /** Switches to a new set of servers; unchanged ones are not touched. */
  async setServers(servers: ServersInput | ParsedServers): Promise<SetServersResult> {
    return this.#open.servers.replace(this.#parseServers(servers));
  }

  /**
   * Adds one server and, unless it is lazy, connects it; `status` shows whether that worked. It stays when files are
   * reloaded. Throws NAME_TAKEN, CONFIG_INVALID or SERVER_LIMIT.
   */
  async addServer(name: string, config: ServerInput): Promise<ServerStatus> {
    return this.#open.operations.add(name, this.#parseServers(Object.fromEntries([[name, config]])));
  }

  /** Removes a server and ends its process. A server of a file is back after the next reload. */
  async removeServer(name: string): Promise<void> {
    return this.#open.servers.remove(name);
  }

  /** Applies the first set without connecting anything. */
  adoptServers(servers: ServersInput | ParsedServers): void {
    this.#parts.servers.adopt(this.#parseServers(servers));
  }

  /** Reads the lists of a server, or of all connected ones, again. */
  async refresh(server?: string): Promise<void> {
    return this.#open.operations.refresh(server);
  }

  /** Pings a server; true if it responded. */
  async ping(server: string): Promise<boolean> {
    return this.#parts.operations.ping(server);
  }

  /** Signs in to a server interactively; false if that is not required or already done. */
  async signIn(server: string, request: SignInRequest = {}): Promise<boolean> {
    return this.#open.signInOperations.signIn(server, request);
  }

  /** Removes the sign-in to a server and revokes its tokens. */
  async signOut(
    server: string,
    selection?: SignInSelection,
  ): Promise<{ readonly found: boolean; readonly revoked: boolean }> {
    return this.#parts.signInOperations.signOut(server, selection);
  }

  /** The type of authentication of a server and its expiry. Contains no token and prompts for nothing. */
  async signInStatus(server: string, selection?: SignInSelection): Promise<SignInStatus> {
    return this.#parts.signInOperations.status(server, selection);
  }

  /** The configured servers, without their status. */
  serverNames(): string[] {
    return this.#parts.servers.names();
  }

  /** The names of the enabled servers with an open connection, sorted. */
  getConnectedServers(): string[] {
    return this.#parts.servers
      .live()
      .map(({ name }) => name)
      .sort();
  }

  status(): ServerStatus[] {
    return this.#parts.operations.status();
  }

  serverStatus(server: string): ServerStatus {
    return this.#parts.operations.statusOf(server);
  }

  /** The route of a gateway in front of these servers, for `capabilities.experimental`. */
  routeThrough(servers: readonly ServerStatus[]): Readonly<Record<string, unknown>> {
    return this.#parts.operations.routeThrough(servers);
  }

  // --- tools -----------------------------------------------------------------------------------------

  /** All current tools, sorted by name. Expired lists are read again in the background. */
  tools(): readonly CatalogTool[] {
    return this.#parts.tools.all();
  }

  /** The tools that this caller can see, optionally filtered by words: the same decision as for calls. */
  toolsForAgent(agent: Caller, search = ''): readonly CatalogTool[] {
    return this.#parts.tools.forCaller(agent, search);
  }

  /** The same without blocking the event loop: the same array until something changes that it depends on. */
  async visibleTools(caller: Caller | undefined, search = ''): Promise<readonly CatalogTool[]> {
    return this.#parts.tools.visible(caller, search);
  }

  /** Adds a native tool: a function of the host. */
  registerTool(tool: NativeTool): void {
    this.catalog.register(tool);
  }

  /** The MCP result unchanged; throws a TurnbuckleError if there is none. */
  call(request: CallRequest): Promise<CallToolResult> {
    // Not async: that would cost each call two more turns of the microtask queue.
    return this.#closing === undefined ? this.#parts.calls.tool(request) : Promise.reject(runtimeClosed());
  }

  // biome-ignore lint/complexity/useMaxParams: a method of the public API.
  callTool(
    server: string,
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<CallToolResult> {
    return this.call(toCallRequest({ server, tool, arguments: args }, options));
  }

  /** Never throws: the outcome is returned as data. */
  async execute(
    toolName: string,
    input: Readonly<Record<string, unknown>> = {},
    options?: CallOptions,
  ): Promise<Execution> {
    const request = toCallRequest({ server: undefined, tool: toolName, arguments: input }, options);
    request.requestId ??= this.#parts.calls.nextRequestId();
    return toExecution(request, (one) => this.call(one));
  }

  // --- who may call what -----------------------------------------------------------------------------

  /** The pending approval requests, and functions to answer or add one. */
  get approvals(): Pick<Approvals, 'pending' | 'whole' | 'answer' | 'abandon' | 'ask' | 'close'> {
    return this.#parts.approvals;
  }

  /** The approved definitions of tools. */
  get pins(): Pick<Pins, 'list' | 'pin' | 'unpin' | 'load' | 'faultOf'> {
    return this.#parts.pins;
  }

  /** The rules in effect, in order of evaluation. */
  get rules(): readonly PlacedRule[] {
    return this.#parts.policy.rules;
  }

  /** Replaces the rules, and optionally the defaults, starting with the next call. */
  setRules(rules: readonly PlacedRule[], more?: PolicySettings): void {
    this.#parts.policy.setRules(rules, more);
    if (rules.some(({ rule }) => rule.flags !== undefined)) this.catalog.enableFlagScan();
  }

  /** The decision about a call, without calling, asking or recording anything. */
  decide(request: DecisionRequest): Decision {
    return this.#parts.preview.decide(request);
  }

  /** The same with an explanation: the rules that were close to matching. */
  explain(request: DecisionRequest): Explanation {
    return this.#parts.preview.explain(request);
  }

  /**
   * Whether a caller can see an item of an earlier call, which may no longer exist. If its definition would decide
   * that, only the host can see it.
   */
  mayKnow(request: DecisionRequest): boolean {
    return this.#parts.preview.canSee(request);
  }

  /** What calls cost, and what is left of budgets; undefined if calls have no cost. */
  get energy(): Omit<Energy, 'faultOf' | 'begin' | 'abandon' | 'end'> | undefined {
    return this.#parts.energy;
  }

  // --- resources and prompts -------------------------------------------------------------------------

  /** The items of a server, or of all; with a caller only those that it can see. */
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
   * The items of one server or of all that a caller can see, all without a caller, exactly as the servers wrote them:
   * the same array until something changes that it depends on.
   */
  async visibleItems(kind: ItemKind, caller?: Caller, query?: ListQuery): Promise<readonly CatalogItem[]> {
    const { redactor, items } = this.#open;
    return redactErrors(redactor, items.find(kind, { ...query, caller }));
  }

  async readResource(server: string, uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    return this.#open.calls.read(resourceRead(server, uri, options)) as Promise<ReadResourceResult>;
  }

  // biome-ignore lint/complexity/useMaxParams: a method of the public API.
  async getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<GetPromptResult> {
    const { calls } = this.#open;
    return calls.read(promptRead(server, { name, arguments: args }, options)) as Promise<GetPromptResult>;
  }

  /** Any other request to a server, on the same path as a call: authorized, limited, retried and recorded. */
  async request(request: ReadRequest): Promise<Readonly<Record<string, unknown>>> {
    return this.#open.calls.read(request);
  }

  /** Records a call that its host refuses by itself, as if the runtime had refused it. */
  recordRefusal(call: RefusedCall, thrown: unknown): Promise<void> {
    return this.#parts.calls.refuse(call, thrown);
  }

  /** Ends a session of a caller, or, without a run, the caller itself: closes its dedicated connections. */
  async endRun(caller: Caller): Promise<void> {
    await Promise.all(this.#parts.servers.all().map((server) => server.forget(caller)));
  }

  /**
   * Calls the listener when a resource changes, across reconnects; returns a function that stops it. A caller with
   * credentials of its own follows it on its own connection.
   */
  // biome-ignore lint/complexity/useMaxParams: a method of the public API.
  async subscribeResource(
    server: string,
    uri: string,
    listener: ResourceListener,
    { caller }: Pick<CallOptions, 'caller'> = {},
  ): Promise<() => Promise<void>> {
    return this.#open.operations.subscribe({ server, uri, caller }, listener);
  }

  /** Closes every connection; all started processes and their descendants have ended when it resolves. */
  close(): Promise<void> {
    this.#closing ??= closeParts(this.#parts);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Failures of servers are handled like all others. */
  async #list<Item>(kind: ItemKind, wish: ListQuery): Promise<Listed<Item>[]> {
    const { redactor, items } = this.#open;
    return redactErrors(redactor, items.list<Item>(kind, wish));
  }

  /** The parts, for what a closed runtime does not do. */
  get #open(): RuntimeParts {
    if (this.#closing === undefined) return this.#parts;
    throw runtimeClosed();
  }
}
