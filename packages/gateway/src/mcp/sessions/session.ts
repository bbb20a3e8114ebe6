/** A client of an older revision: it says who it is once, and can be asked and told things from then on. */
import {
  type Caller,
  Cancellation,
  type CancelSignal,
  type Respondent,
  type RuntimeEvents,
  type ServerRequestAnswers,
  writeInSlices,
  writeJson,
} from 'turnbuckle';
import { callerIn, capabilitiesOf, type Desk, instructionsOf } from './desk.js';
import type { Incoming } from './incoming.js';
import { isLoud, type LogLevel, readLevel } from './log-level.js';
import {
  ASKS,
  CODES,
  errorText,
  idIn,
  isRecord,
  LEGACY_VERSIONS,
  metaOf,
  noticeText,
  type Params,
  progressText,
  type RequestId,
  type RpcAnswer,
  RpcError,
  type RpcRequest,
  resultText,
} from './protocol.js';
import type { Reply } from './reply.js';
import { toRpcError } from './rpc-error.js';
import type { Surface } from './surface.js';
import { isText, type SurfaceResult } from './surface-request.js';

const KINDS = Object.keys(ASKS) as Array<keyof typeof ASKS>;
const NO_ANSWERS: ServerRequestAnswers = {};
/** What the newer revision has and the older ones have not. */
const NOT_YET: ReadonlySet<string> = new Set(['server/discover', 'subscriptions/listen']);
const MOST_SUBSCRIPTIONS = 1_000;

export interface SessionOptions {
  readonly id: string;
  readonly desk: Desk;
  readonly caller: Caller;
  /** Sends a message that belongs to no request. */
  readonly push: (text: string) => void;
}

/** A question of a server, as the runtime puts it. */
interface Asking {
  readonly params: Params;
  readonly signal: AbortSignal;
}

interface Running {
  readonly id: RequestId;
  readonly cancellation: Cancellation;
}

interface Asked {
  readonly resolve: (result: Params) => void;
  readonly reject: (error: Error) => void;
}

export class Session {
  readonly id: string;
  readonly #desk: Desk;
  readonly #push: (text: string) => void;
  /** Not a Map: its tables would keep everything that belonged to a request for long. */
  readonly #running: Running[] = [];
  readonly #asked = new Map<RequestId, Asked>();
  /** Also those that are only about to be watched: asked for twice at once, a resource is watched once. */
  readonly #watched = new Map<string, Promise<() => Promise<void>>>();
  readonly #ends: Array<() => unknown>;
  /** As its last request brought it. */
  #brought: Caller;
  #capabilities: Params = {};
  /** What the client can be asked. */
  #kinds: ReadonlyArray<keyof typeof ASKS> = [];
  #level: LogLevel = 'debug';
  #questions = 0;
  #isOver = false;
  #bounded: { readonly surface: Surface; readonly caller: Caller };

  constructor({ id, desk, caller, push }: SessionOptions) {
    this.id = id;
    this.#desk = desk;
    this.#brought = caller;
    this.#bounded = { surface: desk.surface, caller: callerIn(desk, caller, id) };
    this.#push = push;
    this.#ends = [
      desk.changes.listen((kind) => push(noticeText(`notifications/${kind}/list_changed`, {}))),
      desk.runtime.on('server.notice', (notice) => {
        const { server, level, told } = notice;
        if (told || !isLoud(level, this.#level) || !desk.surface.view.hasServer(server)) return;
        if (desk.surface.mayKnow(server, this.caller)) push(serverNoticeText(notice));
      }),
    ];
  }

  /** Who it is, within what the view gives now. */
  get caller(): Caller {
    const { surface } = this.#desk;
    if (this.#bounded.surface !== surface)
      this.#bounded = { surface, caller: callerIn(this.#desk, this.#brought, this.id) };
    return this.#bounded.caller;
  }

  /** A request of the same identity came, perhaps with another token: what that one may counts from now on. */
  renew(caller: Caller): void {
    if (caller === this.#brought) return;
    this.#brought = caller;
    this.#bounded = { surface: this.#desk.surface, caller: callerIn(this.#desk, caller, this.id) };
  }

  get isBusy(): boolean {
    return this.#running.length > 0;
  }

  /** Takes a message; a request is answered on the reply. Never rejects. `onTaken` is given what ends the request early. */
  async take(incoming: Incoming, reply: Reply, onTaken?: (leave: () => void) => void): Promise<void> {
    if (incoming.kind === 'answer') return this.#answered(incoming.message);
    if (incoming.kind === 'notice') return this.#noticed(incoming.message.method, incoming.message.params);
    const { message } = incoming;
    const cancellation = new Cancellation();
    onTaken?.(() => cancellation.cancel());
    const running = { id: message.id, cancellation };
    this.#running.push(running);
    try {
      const result = await this.#answer(message, reply, cancellation);
      const text = isText(result) ? result : writeInSlices(result);
      const finishing = reply.finish(resultText(message.id, text instanceof Promise ? await text : text));
      if (finishing !== undefined) await finishing;
    } catch (thrown) {
      reply.finish(errorText(message.id, toRpcError(thrown)));
    } finally {
      this.#running.splice(this.#running.indexOf(running), 1);
    }
  }

  async close(): Promise<void> {
    this.#isOver = true;
    for (const end of this.#ends) end();
    for (const { cancellation } of [...this.#running]) cancellation.cancel();
    for (const { reject } of this.#asked.values()) reject(new Error('The session is over'));
    this.#asked.clear();
    await Promise.all([...this.#watched.values()].map(endWatch));
    await this.#desk.runtime.endRun(this.caller);
  }

  async #answer(message: RpcRequest, reply: Reply, signal: CancelSignal): Promise<SurfaceResult> {
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
        return this.#watch(params.uri);
      case 'resources/unsubscribe':
        return this.#unwatch(params.uri);
      default:
        if (NOT_YET.has(method)) throw new RpcError(CODES.unknownMethod, `Method not found: ${method}`);
        return this.#call(message, reply, signal);
    }
  }

  #initialize(params: Params): Params {
    const capabilities = isRecord(params.capabilities) ? params.capabilities : {};
    this.#capabilities = capabilities;
    this.#kinds = KINDS.filter((kind) => capabilities[kind] !== undefined);
    const wanted = String(params.protocolVersion);
    const instructions = instructionsOf(this.#desk, this.caller);
    return {
      protocolVersion: LEGACY_VERSIONS.includes(wanted) ? wanted : LEGACY_VERSIONS[0],
      capabilities: capabilitiesOf(this.#desk, this.caller),
      serverInfo: this.#desk.serverInfo,
      ...(instructions !== undefined && { instructions }),
    };
  }

  #call({ method, params }: RpcRequest, reply: Reply, signal: CancelSignal): Promise<SurfaceResult> {
    const progressToken = idIn(metaOf(params), 'progressToken');
    const { surface } = this.#desk;
    return surface.answer({
      method,
      params,
      logLevel: this.#level,
      caller: this.caller,
      view: surface.view.name,
      era: 'legacy',
      signal,
      respondent: new SessionRespondent(this, reply),
      onProgress:
        progressToken === undefined
          ? undefined
          : (progress) => this.send(progressText(progressToken, progress), reply),
    });
  }

  get capabilities(): Params {
    return this.#capabilities;
  }

  /** What a client answers is checked by the runtime before it goes on to the server. */
  answersOn(reply: Reply): ServerRequestAnswers {
    if (this.#kinds.length === 0) return NO_ANSWERS;
    const answers = this.#kinds.map((kind) => [kind, (asked: Asking) => this.#ask(ASKS[kind], asked, reply)]);
    return Object.fromEntries(answers) as ServerRequestAnswers;
  }

  #ask(method: string, { params, signal }: Asking, reply: Reply): Promise<Params> {
    this.#questions += 1;
    const id = `turnbuckle-${this.#questions}`;
    return new Promise<Params>((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      signal.addEventListener('abort', () => {
        if (!this.#asked.delete(id)) return;
        this.send(noticeText('notifications/cancelled', { requestId: id }), reply);
        reject(new Error('Nobody waits for the answer any longer'));
      });
      this.send(writeJson({ jsonrpc: '2.0', id, method, params }), reply);
    });
  }

  #answered({ id, result, error }: RpcAnswer): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (result !== undefined) asked?.resolve(result);
    else asked?.reject(new Error(error?.message ?? 'The client refused'));
  }

  #noticed(method: string, params: Params): void {
    if (method !== 'notifications/cancelled') return;
    const requestId = idIn(params, 'requestId');
    this.#running.find(({ id }) => id === requestId)?.cancellation.cancel();
  }

  log(params: Params, reply?: Reply): void {
    if (isLoud(params.level, this.#level)) this.send(noticeText('notifications/message', params), reply);
  }

  /** On the way of the request that it belongs to, if that can carry more than its answer. */
  send(text: string, reply: Reply | undefined): void {
    if (reply?.canStream === true) reply.send(text);
    else this.#push(text);
  }

  /** Who it is, for what is begun now: finding out whose a resource is takes a while. */
  #callerNow(): Caller {
    if (this.#isOver) throw new RpcError(CODES.noSession, 'The session is over');
    return this.caller;
  }

  async #watch(uri: unknown): Promise<Params> {
    if (typeof uri !== 'string') throw new RpcError(CODES.invalidParams, 'The resource has no uri');
    const known = this.#watched.get(uri);
    if (known === undefined && this.#watched.size >= MOST_SUBSCRIPTIONS)
      throw new RpcError(CODES.invalidParams, 'There are too many subscriptions in this session');
    const updated = (): void => this.#push(noticeText('notifications/resources/updated', { uri }));
    const watching = known ?? this.#desk.surface.subscribe(uri, () => this.#callerNow(), updated);
    this.#watched.set(uri, watching);
    try {
      await watching;
    } catch (error) {
      if (this.#watched.get(uri) === watching) this.#watched.delete(uri);
      throw error;
    }
    return {};
  }

  async #unwatch(uri: unknown): Promise<Params> {
    const watching = typeof uri === 'string' ? this.#watched.get(uri) : undefined;
    this.#watched.delete(String(uri));
    if (watching !== undefined) await endWatch(watching);
    return {};
  }
}

/** A server that is gone need not be told that nobody listens. */
const endWatch = (watching: Promise<() => Promise<void>>): Promise<void> =>
  watching.then((end) => end()).catch(() => {});

type ServerNotice = RuntimeEvents['server.notice'];

/** The same words for all sessions, however many there are. */
const noticeTexts = new WeakMap<ServerNotice, string>();

function serverNoticeText(notice: ServerNotice): string {
  const known = noticeTexts.get(notice);
  if (known !== undefined) return known;
  const { level, data, logger, server } = notice;
  const text = noticeText('notifications/message', { level, data, logger: logger ?? server });
  noticeTexts.set(notice, text);
  return text;
}

/** Who is behind a call of a session. A class, so that a call makes one object and no functions. */
class SessionRespondent implements Respondent {
  readonly capabilities: Params;
  readonly answers: ServerRequestAnswers;
  readonly session: Session;
  readonly #reply: Reply;

  constructor(session: Session, reply: Reply) {
    this.capabilities = session.capabilities;
    this.answers = session.answersOn(reply);
    this.session = session;
    this.#reply = reply;
  }

  onNotice(method: string, params: Params): void {
    if (method === 'notifications/message') this.session.log(params, this.#reply);
    else this.session.send(noticeText(method, params), this.#reply);
  }
}
