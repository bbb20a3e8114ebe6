/**
 * What a client can do here, whatever revision it speaks and however it is connected: lists of what its
 * caller may see, calls on the one path of the runtime, and everything else passed on to whose it is.
 */
import {
  type Caller,
  type CallOptions,
  type CallRequest,
  type CatalogTool,
  type Decision,
  identityOf,
  inSlices,
  keepSpelling,
  type Permit,
  type Runtime,
} from 'turnbuckle';
import { hostOrCaller } from '../host-or-caller.js';
import { knowsServer } from '../knows-server.js';
import type { Tracer } from '../traces/tracer.js';
import type { ApprovalNotices } from './approval-notice.js';
import { argumentsGiven, readCompletion, requireAddress, withoutValues } from './completion.js';
import { type OfferCounts, Offers } from './offers.js';
import { isPassable } from './passable.js';
import { CODES, isRecord, metaOf, type Params, RpcError } from './protocol.js';
import { checkState, type RequestStates, unknownState } from './request-states.js';
import { toToolFailure } from './rpc-error.js';
import {
  cleanly,
  isMissingResource,
  isUnknown,
  isUnknownMethod,
  notSubscribed,
  unknownMethod,
  unknownPrompt,
  unknownResource,
  unknownTask,
} from './surface-errors.js';
import { furtherOf, inEra, LISTS, listText, metaForServer, withoutMeta } from './surface-params.js';
import type {
  NamedTarget,
  SurfaceRequest,
  SurfaceResult,
  ToolCall,
  ToolIdentity,
} from './surface-request.js';
import { hasTask, type Task, type TaskIds, withTaskIds } from './task-ids.js';
import { checkTaskMethod, SAFE_ON_TASKS, TASK_METHODS } from './task-methods.js';
import type { View } from './view.js';

export interface SurfaceOptions {
  readonly tracer?: Tracer | undefined;
  /** Where its lists are counted. */
  readonly offerCounts: OfferCounts;
  readonly taskIds: TaskIds;
  readonly states: RequestStates;
  readonly notices: ApprovalNotices;
}

export class Surface {
  readonly view: View;
  readonly #runtime: Runtime;
  readonly #offers: Offers;
  readonly #tracer: Tracer | undefined;
  readonly #tasks: TaskIds;
  readonly #states: RequestStates;
  readonly #notices: ApprovalNotices;
  /** What a person said yes to, for as long as the request lasts. */
  readonly #permits = new WeakMap<SurfaceRequest, Permit>();

  constructor(view: View, runtime: Runtime, options: SurfaceOptions) {
    const { tracer, offerCounts, taskIds, states, notices } = options;
    this.#notices = notices;
    this.#tasks = taskIds;
    this.#states = states;
    this.view = view;
    this.#tracer = tracer;
    this.#runtime = runtime;
    this.#offers = new Offers(view, runtime, offerCounts);
  }

  /** Something in the catalog or in the rules is different. */
  invalidate(): void {
    this.view.invalidate();
    this.#offers.invalidate();
  }

  /** Throws an RpcError or a TurnbuckleError. */
  answer(request: SurfaceRequest): Promise<SurfaceResult> {
    const isNew = request.params.requestState === undefined;
    return cleanly(isNew ? this.#answer(request) : this.#goOn(request), this.#runtime);
  }

  /** With the state of an earlier answer: what it was given for, or nothing. That there is more is nobody's to learn here. */
  async #goOn(request: SurfaceRequest): Promise<SurfaceResult> {
    const state = this.#states.open(request.params.requestState, request);
    return this.#answer({ ...request, state }).catch((thrown) => {
      throw isUnknown(thrown) ? unknownState() : thrown;
    });
  }

  async #answer(request: SurfaceRequest): Promise<SurfaceResult> {
    const { method, era, caller } = request;
    switch (method) {
      case 'tools/call':
        return this.#callTool(request);
      case 'tools/list':
        return listText('tools', await this.#offers.tools(caller), era);
      case 'resources/list':
        return listText('resources', await this.#offers.resources(caller), era);
      case 'resources/templates/list':
        return listText('resourceTemplates', await this.#offers.templates(caller), era);
      case 'prompts/list':
        return listText('prompts', await this.#offers.prompts(caller), era);
      case 'resources/read':
        return this.#readResource(request);
      case 'prompts/get':
        return this.#getPrompt(request);
      case 'completion/complete':
        return this.#complete(request);
      default:
        return this.#passOn(request);
    }
  }

  /** Tells of changes of a resource that the caller may read. Throws what reading it would. */
  subscribe(uri: string, callerNow: () => Caller, updated: () => void): Promise<() => Promise<void>> {
    return cleanly(this.#subscribe(uri, callerNow, updated), this.#runtime);
  }

  async #subscribe(uri: string, callerNow: () => Caller, updated: () => void): Promise<() => Promise<void>> {
    const owner = await this.#offers.ownerOf(uri, callerNow());
    const { server, uri: tool } = owner;
    const decide = (): Decision => this.#decideResource(server, tool, callerNow());
    const { action, hidden, reason } = decide();
    if (hidden) throw unknownResource(uri);
    if (action !== 'allow') throw notSubscribed(uri, action, reason);
    // What it may know can be less by the time that something changes.
    const listener = (): void => {
      if (decide().action === 'allow') updated();
    };
    return this.#runtime.subscribeResource(server, tool, listener).catch((thrown) => {
      throw hostOrCaller(callerNow()) !== undefined && isMissingResource(thrown)
        ? unknownResource(uri)
        : thrown;
    });
  }

  /** As for reading it: what is sent is its address. */
  #decideResource(server: string, uri: string, caller: Caller): Decision {
    const what = { kind: 'resource', server, tool: uri, arguments: { uri } } as const;
    return this.#runtime.decide({ ...what, caller: hostOrCaller(caller) });
  }

  /** Whether a caller may know of the server, or of something that it offers. */
  knowsServer(server: string, caller: Caller): boolean {
    if (!this.view.hasServer(server)) return false;
    const who = hostOrCaller(caller);
    if (who === undefined || !this.#runtime.decide({ server, tool: '', caller: who }).hidden) return true;
    return this.mayKnow(server, who);
  }

  /** Whether a caller may know that there is this server. */
  mayKnow(server: string, caller: Caller): boolean {
    return knowsServer(this.#runtime, server, caller);
  }

  async #callTool(request: SurfaceRequest): Promise<Params> {
    const { params, era } = request;
    const { name, arguments: args = {} } = params;
    if (typeof name !== 'string') throw new RpcError(CODES.invalidParams, 'The tool has no name');
    if (!isRecord(args)) throw new RpcError(CODES.invalidParams, 'The arguments are not an object');
    // Not looked up again: when the answer is there, the name may stand for a tool of another server.
    const found: { tool?: ToolIdentity } = {};
    const call = this.#toolCall(name, request, args);
    try {
      const result = await this.#runtime.call(
        this.#optionsOf(request, call, (tool) => {
          found.tool = tool;
        }),
      );
      return inEra(this.#seal(result, request, found.tool), era);
    } catch (thrown) {
      const failure = toToolFailure(thrown);
      if (failure === undefined) throw thrown;
      return inEra(failure, era);
    }
  }

  /** Names of the whole catalog are the runtime's to resolve: one may be that of a server that is not up yet. */
  #toolCall(name: string, { caller, state }: SurfaceRequest, args: Params): ToolCall {
    const onlyFor = state && { server: state.server, tool: state.item };
    if (this.view.options.names !== 'plain')
      return {
        server: undefined,
        tool: name,
        arguments: args,
        isUnlisted: false,
        calledAs: undefined,
        onlyFor,
      };
    const found = this.view.findTool(name, caller);
    const others = (): string[] =>
      this.#runtime.toolsForAgent(caller).flatMap((tool) => this.view.nameOf(tool, caller) ?? []);
    return {
      server: found?.server,
      tool: found?.tool ?? name,
      arguments: args,
      isUnlisted: found === undefined,
      calledAs: { name, others },
      onlyFor,
    };
  }

  /** The tool of that name, if the caller may know it. */
  visibleTool(name: string, caller: Caller): CatalogTool | undefined {
    const found = this.view.findTool(name, caller);
    if (found === undefined) return undefined;
    const { server, tool } = found;
    return this.#runtime.decide({ server, tool, caller: hostOrCaller(caller) }).hidden ? undefined : found;
  }

  async #readResource(request: SurfaceRequest): Promise<Params> {
    const { params, era, caller } = request;
    const { uri } = params;
    if (typeof uri !== 'string') throw new RpcError(CODES.invalidParams, 'The resource has no uri');
    const owner = await this.#offers.ownerOf(uri, caller);
    const target = { kind: 'resource', server: owner.server, item: owner.uri, name: uri } as const;
    const result = await this.#ask(request, target, { ...withoutMeta(params), uri: owner.uri });
    if (era === 'legacy') return inEra(result, era);
    return keepSpelling(result, { ttlMs: 0, ...inEra(result, era), cacheScope: LISTS.cacheScope });
  }

  async #getPrompt(request: SurfaceRequest): Promise<Params> {
    const { params, era, caller } = request;
    const { name } = params;
    if (typeof name !== 'string') throw new RpcError(CODES.invalidParams, 'The prompt has no name');
    const { server, item } = await this.#offers.findPrompt(name, caller);
    const target = { kind: 'prompt', server, item, name } as const;
    return inEra(await this.#ask(request, target, { ...withoutMeta(params), name: item }), era);
  }

  async #complete(request: SurfaceRequest): Promise<Params> {
    const { params, era, caller } = request;
    const ref = isRecord(params.ref) ? params.ref : {};
    const isPrompt = ref.type === 'ref/prompt';
    const named = isPrompt ? ref.name : ref.uri;
    if (typeof named !== 'string')
      throw new RpcError(CODES.invalidParams, 'Nothing is named to be completed');
    const given = readCompletion(params);
    if (isPrompt) {
      const { server, item } = await this.#offers.findPrompt(named, caller);
      const target = { kind: 'prompt', server, item, name: named, implied: argumentsGiven(given) } as const;
      return inEra(await this.#ask(request, target, { ref: { type: ref.type, name: item }, ...given }), era);
    }
    const { server, item, isListed } = await this.#offers.findTemplate(named, caller);
    const decide = (address: string): Decision['action'] =>
      this.#decideResource(server, address, caller).action;
    // Both count, the template and what the value makes of it: the stricter one is what it is about.
    const filled = requireAddress(item, given);
    const about = STRICTNESS[decide(item)] > STRICTNESS[decide(filled)] ? item : filled;
    const target = { kind: 'resource', server, item: about, name: named, isListed } as const;
    const result = await this.#ask(request, target, { ref: { type: ref.type, uri: item }, ...given });
    const isDenied = (address: string): boolean => decide(address) === 'deny';
    return inEra(await inSlices(withoutValues(result, { template: item, given, isDenied })), era);
  }

  /** Of what is not there, or not for the caller, nobody but the host itself is told whose it would be. */
  async #ask(request: SurfaceRequest, target: NamedTarget, params: Params): Promise<Params> {
    const { method, caller } = request;
    const { kind, server, item, name, isListed = true } = target;
    checkState(request.state, target);
    try {
      const result = await this.#runtime.request({
        ...this.#optionsOf(request),
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

  /** What nobody here knows goes to the only server there is, decided like a tool of that name. */
  async #passOn(request: SurfaceRequest): Promise<Params> {
    const { method, params, era } = request;
    if (era === 'modern') checkTaskMethod(method, params);
    if (TASK_METHODS.has(method)) return this.#followTask(request);
    const task = method.startsWith('tasks/') ? this.#namedTask(request) : undefined;
    const server = isPassable(method) ? (task?.server ?? this.#onlyServer(request.caller)) : undefined;
    if (server === undefined) throw unknownMethod(method);
    checkState(request.state, { server, item: method });
    const passed = { ...withoutMeta(params), ...(task !== undefined && { taskId: task.id }) };
    const what = { kind: 'tool', server, item: method, method, params: passed } as const;
    const result = await this.#runtime.request({ ...this.#optionsOf(request), ...what }).catch((thrown) => {
      const isHost = hostOrCaller(request.caller) === undefined;
      throw isUnknown(thrown) || (!isHost && isUnknownMethod(thrown)) ? unknownMethod(method) : thrown;
    });
    return inEra(this.#seal(result, request, { server, tool: method }), era);
  }

  /** A task belongs to whose call began it, and is decided like that call. Nobody is told of the tasks of others. */
  async #followTask(request: SurfaceRequest): Promise<Params> {
    const { method, era, caller } = request;
    const task = this.#findTask(request);
    const { server, tool, id, approved } = task;
    checkState(request.state, { server, item: tool });
    const asked = this.#runtime.request({
      ...this.#optionsOf(request),
      kind: 'tool',
      server,
      item: tool,
      method,
      // Nothing else: what was approved is the call, not what somebody sends along with a look at its task.
      params: { taskId: id },
      task: { permit: approved?.permit, isSafe: SAFE_ON_TASKS.has(method) },
    });
    const result = await asked.catch((thrown) => {
      throw isUnknown(thrown) ? unknownTask() : thrown;
    });
    // The task that was asked about keeps the id by which its client knows it.
    const known = String(request.params.taskId);
    const seal = (of: string): string =>
      of === id ? known : this.#tasks.seal({ server, tool, id: of, approved }, identityOf(caller));
    const sealed = this.#states.seal(result, { server, item: tool }, request);
    return inEra(hasTask(sealed) ? withTaskIds(sealed, seal) : sealed, era);
  }

  #findTask({ params, caller }: SurfaceRequest): Task {
    const task = this.#tasks.open(params.taskId, identityOf(caller));
    if (task === undefined || !this.view.hasServer(task.server)) throw unknownTask();
    return task;
  }

  /** A method about tasks that is not the protocol's: a task that it names has to be the caller's, too. */
  #namedTask(request: SurfaceRequest): Task | undefined {
    if (request.method === 'tasks/list') throw unknownMethod(request.method);
    return request.params.taskId === undefined ? undefined : this.#findTask(request);
  }

  #seal(whole: Params, request: SurfaceRequest, of: ToolIdentity | undefined): Params {
    if (of === undefined) return whole;
    const { server, tool } = of;
    const result = this.#states.seal(whole, { server, item: tool }, request);
    if (!hasTask(result)) return result;
    const approved = this.#tasks.approvedNow(this.#permits.get(request));
    const identity = identityOf(request.caller);
    return withTaskIds(result, (id) => this.#tasks.seal({ server, tool, id, approved }, identity));
  }

  /** What of a request is for the call and not for its server. */
  #optionsOf(request: SurfaceRequest, call: ToolCall, onFound: CallOptions['onFound']): CallRequest;
  #optionsOf(request: SurfaceRequest): CallOptions;
  #optionsOf(request: SurfaceRequest, call?: ToolCall, onFound?: CallOptions['onFound']): CallOptions {
    const { caller, params, era, signal, respondent, onProgress, logLevel, state } = request;
    const { inputResponses } = params;
    const meta = metaForServer(metaOf(params), logLevel);
    const traced = this.#tracer?.begin(meta);
    // Written out, member by member: this is made for every call, and spreading costs more than all the rest of it.
    const options: CallOptions & { [Key in keyof ToolCall]: ToolCall[Key] | undefined } = {
      caller: hostOrCaller(caller),
      signal,
      respondent,
      onProgress,
      onApproval: (asked) =>
        this.#notices.tell(asked, { callerId: caller.id, onProgress, respondent, signal }),
      onPermit: (permit) => void this.#permits.set(request, permit),
      onFound,
      inputRequired: era === 'modern' ? 'return' : 'answer',
      inputResponses: isRecord(inputResponses) ? inputResponses : undefined,
      requestState: state?.state,
      requestId: traced?.requestId,
      meta: traced?.meta ?? meta,
      more: call === undefined ? undefined : furtherOf(params),
      server: call?.server,
      tool: call?.tool,
      arguments: call?.arguments,
      isUnlisted: call?.isUnlisted,
      calledAs: call?.calledAs,
      onlyFor: call?.onlyFor,
    };
    return options;
  }

  /** The only server that the caller may know of; where it may know of none, the only one: it is refused there. */
  #onlyServer(caller: Caller): string | undefined {
    const servers = this.#runtime.serverNames().filter((name) => this.view.hasServer(name));
    const known = servers.filter((name) => this.knowsServer(name, caller));
    const [only, ...others] = known.length === 0 ? servers : known;
    return others.length === 0 ? only : undefined;
  }
}

const STRICTNESS: Readonly<Record<Decision['action'], number>> = { allow: 0, ask: 1, deny: 2 };
