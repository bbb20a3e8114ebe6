/**
 * Everything a client can do, independent of its revision and transport: lists of what its caller may see, calls on the
 * runtime's one call path, and everything else forwarded to the right server.
 */
import type { Caller, CallOptions, CallRequest, CatalogTool, Decision, Runtime } from 'turnbuckle';
import { copyRawNumbers, identityOf, inSlices, isRecord, type Permit } from 'turnbuckle/host';
import { hostOrCaller } from '../identity/host-or-caller.js';
import { knowsServer } from '../identity/knows-server.js';
import type { ListCacheCounts } from '../metrics/list-metrics.js';
import { promptArguments, readCompletion, requireUri, withoutDeniedValues } from './completion.js';
import {
  isMissingResource,
  isUnknown,
  isUnknownMethod,
  redactRejection,
  unknownMethod,
  unknownPrompt,
  unknownResource,
  unknownTask,
} from './dispatcher-errors.js';
import {
  extraCallParams,
  hasOtherSpelling,
  knownParams,
  LIST_CACHE_HINT,
  listText,
  metaForServer,
  STRICTNESS,
  toEraResult,
  withoutMeta,
} from './dispatcher-params.js';
import type {
  DispatcherRequest,
  DispatcherResult,
  NamedTarget,
  ToolCall,
  ToolIdentity,
} from './dispatcher-request.js';
import { ListCache } from './list-cache.js';
import type { ApprovalNotices } from './protocol/approval-notices.js';
import { isForwardable } from './protocol/forwardable.js';
import { CODES, metaOf, type Params, RpcError } from './protocol/protocol.js';
import { toToolFailure } from './protocol/to-rpc-error.js';
import { Refusals } from './refusals.js';
import { resolveTool } from './resolve-tool.js';
import { checkState, type OpenState, type RequestStates, unknownState } from './sealed/request-states.js';
import { hasTask, type Task, type TaskIds, withTaskIds } from './sealed/task-ids.js';
import { checkTaskMethod, READ_ONLY_TASK_METHODS, TASK_METHODS } from './sealed/task-methods.js';
import { subscribeResource } from './subscribe-resource.js';
import type { View } from './view.js';

export interface McpDispatcherOptions {
  /** Counts the lists it sends. */
  readonly listCacheCounts: ListCacheCounts;
  readonly taskIds: TaskIds;
  readonly states: RequestStates;
  readonly notices: ApprovalNotices;
}

type OnResolved = CallOptions['onResolved'];

export class McpDispatcher {
  readonly view: View;
  readonly #runtime: Runtime;
  readonly #lists: ListCache;
  readonly #tasks: TaskIds;
  readonly #states: RequestStates;
  readonly #notices: ApprovalNotices;
  readonly #refusals: Refusals;
  /** What a person approved, for as long as the request lasts. */
  readonly #permits = new WeakMap<DispatcherRequest, Permit>();

  constructor(view: View, runtime: Runtime, options: McpDispatcherOptions) {
    const { listCacheCounts, taskIds, states, notices } = options;
    this.#notices = notices;
    this.#tasks = taskIds;
    this.#states = states;
    this.view = view;
    this.#runtime = runtime;
    this.#refusals = new Refusals(runtime);
    this.#lists = new ListCache(view, runtime, listCacheCounts);
  }

  /** The catalog or the rules have changed. */
  invalidate(): void {
    this.view.invalidate();
    this.#lists.invalidate();
  }

  /** Throws an RpcError or a TurnbuckleError. */
  dispatch(request: DispatcherRequest): Promise<DispatcherResult> {
    const isNew = request.params.requestState === undefined;
    return redactRejection(isNew ? this.#dispatchNew(request) : this.#resume(request), this.#runtime);
  }

  /** With a state: the item that it was issued for, or none. The caller must not learn whether there is more. */
  async #resume(request: DispatcherRequest): Promise<DispatcherResult> {
    let state: OpenState;
    try {
      state = this.#states.open(request.params.requestState, request);
    } catch (thrown) {
      return this.#refusals.refuse(request, thrown);
    }
    return this.#dispatchNew({ ...request, state }).catch((thrown) => {
      throw isUnknown(thrown) ? unknownState() : thrown;
    });
  }

  #dispatchNew(request: DispatcherRequest): Promise<DispatcherResult> {
    return this.#refusals.record(request, this.#dispatch(request));
  }

  async #dispatch(request: DispatcherRequest): Promise<DispatcherResult> {
    const { method, era, caller } = request;
    switch (method) {
      case 'tools/call':
        return this.#callTool(request);
      case 'tools/list':
        return listText('tools', await this.#lists.tools(caller), era);
      case 'resources/list':
        return listText('resources', await this.#lists.resources(caller), era);
      case 'resources/templates/list':
        return listText('resourceTemplates', await this.#lists.templates(caller), era);
      case 'prompts/list':
        return listText('prompts', await this.#lists.prompts(caller), era);
      case 'resources/read':
        return this.#readResource(request);
      case 'prompts/get':
        return this.#getPrompt(request);
      case 'completion/complete':
        return this.#complete(request);
      default:
        return this.#forward(request);
    }
  }

  /** Notifies of changes of a resource that the caller may read. Throws what reading it would throw. */
  subscribe(uri: string, callerNow: () => Caller, updated: () => void): Promise<() => Promise<void>> {
    const request = { uri, callerNow, updated };
    const parts = {
      runtime: this.#runtime,
      ownerOf: (address: string, caller: Caller) => this.#lists.ownerOf(address, caller),
      decide: (server: string, address: string) => this.#decideResource(server, address, callerNow()),
      refuse: (caller: Caller, thrown: unknown) =>
        this.#refusals.refuse({ method: 'resources/subscribe', params: { uri }, caller }, thrown),
    };
    return redactRejection(subscribeResource(request, parts), this.#runtime);
  }

  /** Authorized like a read: only the URI is sent. */
  #decideResource(server: string, uri: string, caller: Caller): Decision {
    const what = { kind: 'resource', server, tool: uri, arguments: { uri } } as const;
    return this.#runtime.decide({ ...what, caller: hostOrCaller(caller) });
  }

  /** Whether a caller may know of the server, or of an item that it offers. */
  knowsServer(server: string, caller: Caller): boolean {
    if (!this.view.hasServer(server)) return false;
    const who = hostOrCaller(caller);
    if (who === undefined || !this.#runtime.decide({ server, tool: '', caller: who }).hidden) return true;
    return this.mayKnow(server, who);
  }

  /** Whether a caller may know that this server exists. */
  mayKnow(server: string, caller: Caller): boolean {
    return knowsServer(this.#runtime, server, caller);
  }

  async #callTool(request: DispatcherRequest): Promise<Params> {
    const { params, era } = request;
    const { name, arguments: args = {} } = params;
    if (typeof name !== 'string') throw new RpcError(CODES.invalidParams, 'params.name must be a string');
    if (!isRecord(args)) throw new RpcError(CODES.invalidParams, 'params.arguments must be an object');
    // Not looked up again: by the time of the answer the name may belong to a tool of another server.
    const found: { tool?: ToolIdentity } = {};
    const call = resolveTool({ name, arguments: args }, request, { view: this.view, runtime: this.#runtime });
    try {
      const result = await this.#runtime.call(
        this.#callOptions(request, call, (tool) => {
          found.tool = tool;
          request.span?.confirmTarget(tool.server);
        }),
      );
      return toEraResult(this.#seal(result, request, found.tool), era);
    } catch (thrown) {
      const failure = toToolFailure(thrown);
      if (failure === undefined) throw thrown;
      return toEraResult(failure, era);
    }
  }

  /** For calls that wait for their client: decides again, for the caller that comes back. */
  readonly resumeGuard = {
    mayStillCall: ({ method, params, caller }: DispatcherRequest): boolean => {
      const { name, arguments: args } = params;
      const isCall = method === 'tools/call' && typeof name === 'string';
      const tool = isCall ? this.visibleTool(name, caller) : undefined;
      if (tool === undefined) return false;
      const what = { server: tool.server, tool: tool.tool, arguments: isRecord(args) ? args : {} };
      return this.#runtime.decide({ ...what, caller: hostOrCaller(caller) }).action !== 'deny';
    },
    refuse: (request: DispatcherRequest, thrown: unknown): Promise<never> =>
      this.#refusals.refuse(request, thrown),
  };

  /** The tool of that name, if the caller may know it. */
  visibleTool(name: string, caller: Caller): CatalogTool | undefined {
    const found = this.view.findTool(name, caller);
    if (found === undefined) return undefined;
    const { server, tool } = found;
    return this.#runtime.decide({ server, tool, caller: hostOrCaller(caller) }).hidden ? undefined : found;
  }

  async #readResource(request: DispatcherRequest): Promise<Params> {
    const { params, era, caller } = request;
    const { uri } = params;
    if (typeof uri !== 'string') throw new RpcError(CODES.invalidParams, 'params.uri must be a string');
    const owner = await this.#lists.ownerOf(uri, caller);
    const target = { kind: 'resource', server: owner.server, item: owner.uri, name: uri } as const;
    const result = await this.#request(request, target, {
      ...knownParams(params, 'resources/read'),
      uri: owner.uri,
    });
    if (era === 'legacy') return toEraResult(result, era);
    return copyRawNumbers(result, {
      ttlMs: 0,
      ...toEraResult(result, era),
      cacheScope: LIST_CACHE_HINT.cacheScope,
    });
  }

  async #getPrompt(request: DispatcherRequest): Promise<Params> {
    const { params, era, caller } = request;
    const { name } = params;
    if (typeof name !== 'string') throw new RpcError(CODES.invalidParams, 'params.name must be a string');
    const { server, item } = await this.#lists.findPrompt(name, caller);
    request.span?.confirmTarget(server);
    const target = { kind: 'prompt', server, item, name } as const;
    const known = { ...knownParams(params, 'prompts/get'), name: item };
    return toEraResult(await this.#request(request, target, known), era);
  }

  async #complete(request: DispatcherRequest): Promise<Params> {
    const { params, era, caller } = request;
    const ref = isRecord(params.ref) ? params.ref : {};
    const isPrompt = ref.type === 'ref/prompt';
    const named = isPrompt ? ref.name : ref.uri;
    if (typeof named !== 'string')
      throw new RpcError(CODES.invalidParams, 'params.ref must be a prompt or resource reference');
    const given = readCompletion(params);
    if (isPrompt) {
      const { server, item } = await this.#lists.findPrompt(named, caller);
      request.span?.confirmTarget(server);
      const target = { kind: 'prompt', server, item, name: named, implied: promptArguments(given) } as const;
      return toEraResult(
        await this.#request(request, target, { ref: { type: ref.type, name: item }, ...given }),
        era,
      );
    }
    const { server, item, isListed } = await this.#lists.findTemplate(named, caller);
    const decide = (address: string): Decision['action'] =>
      this.#decideResource(server, address, caller).action;
    // Both the template and the expanded URI are checked: the stricter decision applies.
    const filled = requireUri(item, given);
    const about = STRICTNESS[decide(item)] > STRICTNESS[decide(filled)] ? item : filled;
    const target = { kind: 'resource', server, item: about, name: named, isListed } as const;
    const result = await this.#request(request, target, { ref: { type: ref.type, uri: item }, ...given });
    const isDenied = (address: string): boolean => decide(address) === 'deny';
    return toEraResult(await inSlices(withoutDeniedValues(result, { template: item, given, isDenied })), era);
  }

  /** For a missing or hidden item, only the host learns which server it would belong to. */
  async #request(request: DispatcherRequest, target: NamedTarget, params: Params): Promise<Params> {
    const { method, caller } = request;
    const { kind, server, item, name, isListed = true } = target;
    checkState(request.state, target);
    try {
      const result = await this.#runtime.request({
        ...this.#callOptions(request),
        kind,
        server,
        item,
        method,
        params,
        implied: target.implied,
      });
      return this.#states.seal(result, target, request);
    } catch (thrown) {
      const isThere = !isUnknown(thrown) && (isListed || !isMissingResource(thrown));
      if (isThere || hostOrCaller(caller) === undefined) throw thrown;
      throw kind === 'prompt' ? unknownPrompt(name) : unknownResource(name);
    }
  }

  /** An unknown method goes to the only server, authorized like a tool of that name. */
  async #forward(request: DispatcherRequest): Promise<Params> {
    const { method, params, era } = request;
    if (era === 'modern') checkTaskMethod(method, params);
    if (TASK_METHODS.has(method)) return this.#forwardTask(request);
    const task = method.startsWith('tasks/') ? this.#taskOfRequest(request) : undefined;
    const server = isForwardable(method) ? (task?.server ?? this.#onlyServer(request.caller)) : undefined;
    if (server === undefined) throw unknownMethod(method);
    checkState(request.state, { server, item: method });
    const passed = { ...withoutMeta(params), ...(task !== undefined && { taskId: task.id }) };
    const what = { kind: 'tool', server, item: method, method, params: passed } as const;
    const result = await this.#runtime.request({ ...this.#callOptions(request), ...what }).catch((thrown) => {
      const isHost = hostOrCaller(request.caller) === undefined;
      throw isUnknown(thrown) || (!isHost && isUnknownMethod(thrown)) ? unknownMethod(method) : thrown;
    });
    return toEraResult(this.#seal(result, request, { server, tool: method }), era);
  }

  /** A task belongs to the caller that started it, and is authorized like its call. Tasks of others stay hidden. */
  async #forwardTask(request: DispatcherRequest): Promise<Params> {
    const { method, era, caller } = request;
    const task = this.#findTask(request);
    const { server, tool, id, approved } = task;
    checkState(request.state, { server, item: tool });
    const asked = this.#runtime.request({
      ...this.#callOptions(request),
      kind: 'tool',
      server,
      item: tool,
      method,
      // Nothing else: the call was approved, not what is sent along when its task is read.
      params: { taskId: id },
      task: { permit: approved?.permit, isSafe: READ_ONLY_TASK_METHODS.has(method) },
    });
    const result = await asked.catch((thrown) => {
      throw isUnknown(thrown) ? unknownTask() : thrown;
    });
    // The requested task keeps the id that its client knows.
    const known = String(request.params.taskId);
    const seal = (of: string): string =>
      of === id ? known : this.#tasks.seal({ server, tool, id: of, approved }, identityOf(caller));
    const sealed = this.#states.seal(result, { server, item: tool }, request);
    return toEraResult(hasTask(sealed) ? withTaskIds(sealed, seal) : sealed, era);
  }

  #findTask({ params, caller }: DispatcherRequest): Task {
    const task = this.#tasks.open(params.taskId, identityOf(caller));
    if (task === undefined || !this.view.hasServer(task.server)) throw unknownTask();
    return task;
  }

  /** An unknown method about tasks: if it names a task, that has to be the caller's too. */
  #taskOfRequest(request: DispatcherRequest): Task | undefined {
    if (request.method === 'tasks/list') throw unknownMethod(request.method);
    if (hasOtherSpelling(request.params, 'taskId')) throw unknownTask();
    return request.params.taskId === undefined ? undefined : this.#findTask(request);
  }

  #seal(whole: Params, request: DispatcherRequest, of: ToolIdentity | undefined): Params {
    if (of === undefined) return whole;
    const { server, tool } = of;
    const result = this.#states.seal(whole, { server, item: tool }, request);
    if (!hasTask(result)) return result;
    const approved = this.#tasks.createApproval(this.#permits.get(request));
    const identity = identityOf(request.caller);
    return withTaskIds(result, (id) => this.#tasks.seal({ server, tool, id, approved }, identity));
  }

  /** What of a request is for the call and not for its server. */
  #callOptions(request: DispatcherRequest, call: ToolCall, onResolved: OnResolved): CallRequest;
  #callOptions(request: DispatcherRequest): CallOptions;
  #callOptions(request: DispatcherRequest, call?: ToolCall, onResolved?: OnResolved): CallOptions {
    const { caller, params, era, signal, responder, onProgress, logLevel, state, span } = request;
    this.#refusals.setBegun(request);
    const { inputResponses } = params;
    const meta = metaForServer(metaOf(params), logLevel);
    // Written out member by member: this runs for every call, and spreading costs more than all the rest.
    const options: CallOptions & { [Key in keyof ToolCall]: ToolCall[Key] | undefined } = {
      caller: hostOrCaller(caller),
      signal,
      responder,
      onProgress,
      onApproval: (asked) =>
        this.#notices.notify(asked, { callerId: caller.id, onProgress, responder, signal }),
      onPermit: (permit) => void this.#permits.set(request, permit),
      onResolved,
      inputRequired: era === 'modern' ? 'return' : 'answer',
      inputResponses: isRecord(inputResponses) ? inputResponses : undefined,
      requestState: state?.state,
      meta: span === undefined ? meta : span.metaFor(meta),
      extraParams: call === undefined ? undefined : extraCallParams(params),
      server: call?.server,
      tool: call?.tool,
      arguments: call?.arguments,
      isUnlisted: call?.isUnlisted,
      calledAs: call?.calledAs,
      onlyFor: call?.onlyFor,
    };
    return options;
  }

  /** The only server that the caller may know of; if it may know of none, the only server, which rejects the call. */
  #onlyServer(caller: Caller): string | undefined {
    const servers = this.#runtime.serverNames().filter((name) => this.view.hasServer(name));
    const known = servers.filter((name) => this.knowsServer(name, caller));
    const [only, ...others] = known.length === 0 ? servers : known;
    return others.length === 0 ? only : undefined;
  }
}
