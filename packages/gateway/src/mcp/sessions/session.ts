/** A session of a client of an older revision: it identifies itself once, and can then receive requests and notices. */
import type { Caller, RuntimeEvents, ServerRequestAnswers } from 'turnbuckle';
import {
  Cancellation,
  type CancelSignal,
  type ClientResponder,
  identityOf,
  isRecord,
  SERVED_REVISIONS,
  writeInSlices,
  writeJson,
} from 'turnbuckle/host';
import { hostOrCaller } from '../../identity/host-or-caller.js';
import type { ServerSpan } from '../../telemetry/server-span.js';
import type { McpDispatcher } from '../dispatcher.js';
import { type DispatcherResult, isResponseText } from '../dispatcher-request.js';
import type { Incoming } from '../protocol/incoming.js';
import { isAtLeast, type LogLevel, readLevel } from '../protocol/log-level.js';
import {
  CLIENT_REQUEST_METHODS,
  CODES,
  errorText,
  exactIdOf,
  metaOf,
  noticeText,
  type Params,
  progressText,
  type RequestId,
  RpcError,
  type RpcRequest,
  type RpcResponse,
  resultText,
} from '../protocol/protocol.js';
import type { Reply } from '../protocol/reply.js';
import { toRpcError } from '../protocol/to-rpc-error.js';
import { observeServing, startServerSpan } from '../serve-observed.js';
import { callerInView, capabilitiesOf, instructionsOf, type ViewContext } from '../view-context.js';

const KINDS = Object.keys(CLIENT_REQUEST_METHODS) as Array<keyof typeof CLIENT_REQUEST_METHODS>;
const NO_ANSWERS: ServerRequestAnswers = {};
/** Methods that only the newer revision has. */
const MODERN_ONLY_METHODS: ReadonlySet<string> = new Set(['server/discover', 'subscriptions/listen']);
const MAX_SUBSCRIPTIONS = 1_000;

export interface SessionOptions {
  readonly id: string;
  readonly viewContext: ViewContext;
  readonly caller: Caller;
  /** Sends a message that belongs to no request. */
  readonly push: (text: string) => void;
  /** Whether its client uses HTTP; otherwise it uses stdio. */
  readonly isHttp: boolean;
}

/** A request of a server, as the runtime passes it. */
interface ServerRequest {
  readonly params: Params;
  readonly signal: AbortSignal;
}

/** What belongs to a request while it runs. */
interface RequestScope {
  readonly reply: Reply;
  readonly signal: CancelSignal;
  readonly span?: ServerSpan | undefined;
}

interface RunningRequest {
  readonly id: RequestId;
  readonly cancellation: Cancellation;
}

interface PendingServerRequest {
  readonly resolve: (result: Params) => void;
  readonly reject: (error: Error) => void;
}

export class Session {
  readonly id: string;
  readonly #viewContext: ViewContext;
  readonly #push: (text: string) => void;
  /** Not a Map: its tables would keep objects of ended requests alive for long. */
  readonly #running: RunningRequest[] = [];
  readonly #pendingServerRequests = new Map<RequestId, PendingServerRequest>();
  /** Includes pending ones: a resource that is subscribed to twice at the same time is watched once. */
  readonly #subscriptions = new Map<string, Promise<() => Promise<void>>>();
  readonly #cleanups: Array<() => unknown>;
  /** As of its last request. */
  #lastCaller: Caller;
  #capabilities: Params = {};
  /** The capabilities of the client. */
  #kinds: ReadonlyArray<keyof typeof CLIENT_REQUEST_METHODS> = [];
  #level: LogLevel = 'debug';
  #serverRequestCount = 0;
  #isClosed = false;
  #protocolVersion: string | undefined;
  readonly #isHttp: boolean;
  readonly #openedAt = performance.now();
  #callerInView: { readonly dispatcher: McpDispatcher; readonly caller: Caller };

  constructor({ id, viewContext, caller, push, isHttp }: SessionOptions) {
    this.id = id;
    this.#isHttp = isHttp;
    this.#viewContext = viewContext;
    this.#lastCaller = caller;
    this.#callerInView = {
      dispatcher: viewContext.dispatcher,
      caller: callerInView(viewContext, caller, id),
    };
    this.#push = push;
    this.#cleanups = [
      viewContext.changes.listen((kind) => push(noticeText(`notifications/${kind}/list_changed`, {}))),
      viewContext.runtime.on('server.notice', (notice) => {
        const { server, level, told, connectionOf } = notice;
        if (told || !isAtLeast(level, this.#level) || !viewContext.dispatcher.view.hasServer(server)) return;
        if (!usesConnection(this.caller, connectionOf)) return;
        if (viewContext.dispatcher.mayKnow(server, this.caller)) push(serverNoticeText(notice));
      }),
    ];
  }

  /** Its caller, within the current limits of the view. */
  get caller(): Caller {
    const { dispatcher } = this.#viewContext;
    if (this.#callerInView.dispatcher !== dispatcher)
      this.#callerInView = { dispatcher, caller: callerInView(this.#viewContext, this.#lastCaller, this.id) };
    return this.#callerInView.caller;
  }

  /** A request of the same identity arrived, perhaps with another token: the rights of that token apply from now on. */
  updateCaller(caller: Caller): void {
    if (caller === this.#lastCaller) return;
    this.#lastCaller = caller;
    this.#callerInView = {
      dispatcher: this.#viewContext.dispatcher,
      caller: callerInView(this.#viewContext, caller, this.id),
    };
  }

  get isBusy(): boolean {
    return this.#running.length > 0;
  }

  /** Handles a message; a request gets its response on the reply. Never rejects. `onTaken` gets a function that cancels it. */
  async handle(incoming: Incoming, reply: Reply, onTaken?: (leave: () => void) => void): Promise<void> {
    if (incoming.kind === 'answer') return this.#onResponse(incoming.message);
    if (incoming.kind === 'notice') return this.#onNotice(incoming.message.method, incoming.message.params);
    const { message } = incoming;
    const cancellation = new Cancellation();
    onTaken?.(() => cancellation.cancel());
    const running = { id: message.id, cancellation };
    this.#running.push(running);
    try {
      await this.#serve(message, { reply, signal: cancellation });
    } catch (thrown) {
      reply.finish(errorText(message.id, toRpcError(thrown)));
    } finally {
      this.#running.splice(this.#running.indexOf(running), 1);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#viewContext.telemetry?.recordServedSession((performance.now() - this.#openedAt) / 1_000, {
      isHttp: this.#isHttp,
      protocolVersion: this.#protocolVersion,
    });
    for (const end of this.#cleanups) end();
    for (const { cancellation } of [...this.#running]) cancellation.cancel();
    for (const { reject } of this.#pendingServerRequests.values()) reject(new Error('The session has ended'));
    this.#pendingServerRequests.clear();
    await Promise.all([...this.#subscriptions.values()].map(endSubscription));
    await this.#viewContext.runtime.endRun(this.caller);
  }

  #serve(message: RpcRequest, scope: RequestScope): Promise<void> {
    const { headers } = scope.reply;
    const span = startServerSpan(this.#viewContext, message, {
      headers,
      callerId: this.caller.id,
      sessionId: this.id,
      protocolVersion: this.#protocolVersion,
    });
    if (span === undefined) return this.#respond(message, scope);
    return observeServing(span, (onResult) => this.#respond(message, { ...scope, span }, onResult));
  }

  async #respond(
    message: RpcRequest,
    scope: RequestScope,
    onResult?: (result: DispatcherResult) => void,
  ): Promise<void> {
    const result = await this.#dispatch(message, scope);
    onResult?.(result);
    const text = isResponseText(result) ? result : writeInSlices(result);
    const finishing = scope.reply.finish(resultText(message.id, text instanceof Promise ? await text : text));
    if (finishing !== undefined) await finishing;
  }

  async #dispatch(message: RpcRequest, scope: RequestScope): Promise<DispatcherResult> {
    const { method, params } = message;
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'ping':
        return {};
      case 'logging/setLevel':
        this.#level = readLevel(params.level);
        return {};
      case 'resources/subscribe':
        return this.#subscribe(params.uri);
      case 'resources/unsubscribe':
        return this.#unsubscribe(params.uri);
      default:
        if (MODERN_ONLY_METHODS.has(method))
          throw new RpcError(CODES.unknownMethod, `Method not found: ${method}`);
        return this.#call(message, scope);
    }
  }

  #initialize(params: Params): Params {
    const capabilities = isRecord(params.capabilities) ? params.capabilities : {};
    this.#capabilities = capabilities;
    this.#kinds = KINDS.filter((kind) => capabilities[kind] !== undefined);
    const wanted = String(params.protocolVersion);
    this.#protocolVersion = SERVED_REVISIONS.includes(wanted) ? wanted : SERVED_REVISIONS[0];
    const instructions = instructionsOf(this.#viewContext, this.caller);
    return {
      protocolVersion: this.#protocolVersion,
      capabilities: capabilitiesOf(this.#viewContext, this.caller),
      serverInfo: this.#viewContext.serverInfo,
      ...(instructions !== undefined && { instructions }),
    };
  }

  #call({ method, params }: RpcRequest, { reply, signal, span }: RequestScope): Promise<DispatcherResult> {
    const progressToken = exactIdOf(metaOf(params), 'progressToken');
    const { dispatcher } = this.#viewContext;
    return dispatcher.dispatch({
      method,
      params,
      logLevel: this.#level,
      caller: this.caller,
      view: dispatcher.view.name,
      era: 'legacy',
      signal,
      span,
      responder: new SessionResponder(this, reply),
      onProgress:
        progressToken === undefined
          ? undefined
          : (progress) => this.send(progressText(progressToken, progress), reply),
    });
  }

  get capabilities(): Params {
    return this.#capabilities;
  }

  /** The runtime checks the input of a client before it goes to the server. */
  answersFor(reply: Reply): ServerRequestAnswers {
    if (this.#kinds.length === 0) return NO_ANSWERS;
    const answers = this.#kinds.map((kind) => [
      kind,
      (asked: ServerRequest) => this.#requestFromClient(CLIENT_REQUEST_METHODS[kind], asked, reply),
    ]);
    return Object.fromEntries(answers) as ServerRequestAnswers;
  }

  #requestFromClient(method: string, { params, signal }: ServerRequest, reply: Reply): Promise<Params> {
    this.#serverRequestCount += 1;
    const id = `turnbuckle-${this.#serverRequestCount}`;
    return new Promise<Params>((resolve, reject) => {
      this.#pendingServerRequests.set(id, { resolve, reject });
      signal.addEventListener('abort', () => {
        if (!this.#pendingServerRequests.delete(id)) return;
        this.send(noticeText('notifications/cancelled', { requestId: id }), reply);
        reject(new Error('The request was cancelled'));
      });
      this.send(writeJson({ jsonrpc: '2.0', id, method, params }), reply);
    });
  }

  #onResponse({ id, result, error }: RpcResponse): void {
    const asked = this.#pendingServerRequests.get(id);
    this.#pendingServerRequests.delete(id);
    if (result !== undefined) asked?.resolve(result);
    else asked?.reject(new Error(error?.message ?? 'The client refused'));
  }

  #onNotice(method: string, params: Params): void {
    if (method !== 'notifications/cancelled') return;
    const requestId = exactIdOf(params, 'requestId');
    this.#running.find(({ id }) => id === requestId)?.cancellation.cancel();
  }

  log(params: Params, reply?: Reply): void {
    if (isAtLeast(params.level, this.#level)) this.send(noticeText('notifications/message', params), reply);
  }

  /** On the stream of the request that it belongs to, if that can carry more than the response. */
  send(text: string, reply: Reply | undefined): void {
    if (reply?.canStream === true) reply.send(text);
    else this.#push(text);
  }

  /** The caller as of now: finding the server of a resource takes a while. */
  #callerNow(): Caller {
    if (this.#isClosed) throw new RpcError(CODES.noSession, 'The session has ended');
    return this.caller;
  }

  async #subscribe(uri: unknown): Promise<Params> {
    if (typeof uri !== 'string') throw new RpcError(CODES.invalidParams, 'params.uri must be a string');
    const known = this.#subscriptions.get(uri);
    if (known === undefined && this.#subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw new RpcError(CODES.invalidParams, 'Too many subscriptions in this session');
    const updated = (): void => this.#push(noticeText('notifications/resources/updated', { uri }));
    const watching = known ?? this.#viewContext.dispatcher.subscribe(uri, () => this.#callerNow(), updated);
    this.#subscriptions.set(uri, watching);
    try {
      await watching;
    } catch (error) {
      if (this.#subscriptions.get(uri) === watching) this.#subscriptions.delete(uri);
      throw error;
    }
    return {};
  }

  async #unsubscribe(uri: unknown): Promise<Params> {
    const watching = typeof uri === 'string' ? this.#subscriptions.get(uri) : undefined;
    this.#subscriptions.delete(String(uri));
    if (watching !== undefined) await endSubscription(watching);
    return {};
  }
}

/** A server that is gone needs no unsubscribe. */
const endSubscription = (watching: Promise<() => Promise<void>>): Promise<void> =>
  watching.then((end) => end()).catch(() => {});

type ServerNotice = RuntimeEvents['server.notice'];

/** Whether a message on this connection is for the caller. */
function usesConnection(caller: Caller, owner: ServerNotice['connectionOf']): boolean {
  if (owner === undefined) return true;
  if (owner === 'host') return caller.isHost === true || hostOrCaller(caller) === undefined;
  return owner.identity === identityOf(caller) && (owner.run === undefined || owner.run === caller.run);
}

/** Shared by all sessions. */
const noticeTexts = new WeakMap<ServerNotice, string>();

function serverNoticeText(notice: ServerNotice): string {
  const known = noticeTexts.get(notice);
  if (known !== undefined) return known;
  const { level, data, logger, server } = notice;
  const text = noticeText('notifications/message', { level, data, logger: logger ?? server });
  noticeTexts.set(notice, text);
  return text;
}

/** The caller behind a call of a session. A class, so that a call creates one object and no functions. */
class SessionResponder implements ClientResponder {
  readonly capabilities: Params;
  readonly answers: ServerRequestAnswers;
  readonly session: Session;
  readonly #reply: Reply;

  constructor(session: Session, reply: Reply) {
    this.capabilities = session.capabilities;
    this.answers = session.answersFor(reply);
    this.session = session;
    this.#reply = reply;
  }

  onNotice(method: string, params: Params): void {
    if (method === 'notifications/message') this.session.log(params, this.#reply);
    else this.session.send(noticeText(method, params), this.#reply);
  }
}
