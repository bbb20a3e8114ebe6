import type { Changed } from './behaviour.js';
import type { Channel } from './channel.js';
import { isObject, isRequestId, type JsonObject, type RequestId, toObject } from './json.js';
import type { Host, Link, Request } from './link.js';
import { fail, notify, succeed } from './messages.js';
import { ANSWERED, answer } from './methods.js';
import { claimedRevision, type Era, META, MODERN_REVISION } from './revisions.js';
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  RpcError,
  toRpcError,
  UNSUPPORTED_VERSION,
} from './rpc-error.js';

interface Subscription {
  readonly filter: JsonObject;
  readonly channel: Channel;
}

/** The server's side of one link: requests in flight, subscriptions, requests to the client. */
export class Session implements Link {
  /** Set by the handshake; a modern client never sets it. */
  revision: string | undefined;
  clientCapabilities: JsonObject = {};
  readonly subscribedUris = new Set<string>();
  /** Where unsolicited messages go. */
  push: Channel;
  readonly #server: Host;
  readonly #inFlight = new Map<RequestId, AbortController>();
  readonly #subscriptions = new Map<RequestId, Subscription>();
  readonly #questions = new Map<RequestId, (reply: JsonObject) => void>();
  #questionCount = 0;

  constructor(server: Host, push: Channel) {
    this.#server = server;
    this.push = push;
  }

  /** Handles one message; its response and related messages go to `reply`. Never rejects. */
  async receive(message: unknown, reply: Channel): Promise<void> {
    if (!isObject(message) || message.jsonrpc !== '2.0') {
      return fail(reply, null, new RpcError(INVALID_REQUEST, 'not a JSON-RPC 2.0 message', { status: 400 }));
    }
    const { id, method } = message;
    const params = toObject(message.params);
    if (typeof method !== 'string') return this.#settleQuestion(message);
    if (id === undefined) return this.#takeNotification(method, params);
    if (!isRequestId(id)) {
      return fail(
        reply,
        null,
        new RpcError(INVALID_REQUEST, 'the id is no string or number', { status: 400 }),
      );
    }
    await this.#takeRequest({ id, method, params, reply });
  }

  /** Cancels what is in flight and drops all subscriptions. */
  end(): void {
    for (const controller of this.#inFlight.values()) controller.abort();
    this.#subscriptions.clear();
  }

  question(method: string, params: JsonObject, channel: Channel): Promise<JsonObject> {
    this.#questionCount += 1;
    const id = `question-${this.#questionCount}`;
    return new Promise((resolve) => {
      this.#questions.set(id, resolve);
      channel.deliver(JSON.stringify({ jsonrpc: '2.0', id, method, params }), { final: false });
    });
  }

  listen(id: RequestId, filter: JsonObject, channel: Channel): void {
    this.#subscriptions.set(id, { filter, channel });
    notify(channel, 'notifications/subscriptions/acknowledged', {
      _meta: { [META.subscriptionId]: id },
      notifications: filter,
    });
  }

  announceChange(kind: Changed): void {
    const method = `notifications/${kind}/list_changed`;
    if (this.revision !== undefined) notify(this.push, method);
    this.#announceToSubscribers(method, {}, (filter) => filter[`${kind}ListChanged`] === true);
  }

  announceUpdate(uri: string): void {
    const method = 'notifications/resources/updated';
    if (this.subscribedUris.has(uri)) notify(this.push, method, { uri });
    this.#announceToSubscribers(method, { uri }, ({ resourceSubscriptions: uris }) => {
      return Array.isArray(uris) && uris.includes(uri);
    });
  }

  #announceToSubscribers(method: string, params: JsonObject, accepts: (filter: JsonObject) => boolean): void {
    for (const [id, { filter, channel }] of this.#subscriptions) {
      if (accepts(filter)) notify(channel, method, { ...params, _meta: { [META.subscriptionId]: id } });
    }
  }

  async #takeRequest(incoming: Omit<Request, 'era' | 'signal'>): Promise<void> {
    const { id, method, reply } = incoming;
    const controller = new AbortController();
    const { signal } = controller;
    this.#inFlight.set(id, controller);
    try {
      await this.#server.behaviour.received?.(method, this);
      const request = { ...incoming, era: this.#eraOf(method, incoming.params), signal };
      const result = await answer(request, this, this.#server);
      if (result !== ANSWERED && !signal.aborted) {
        succeed(reply, id, result);
      }
    } catch (thrown) {
      if (!signal.aborted) fail(reply, id, toRpcError(thrown));
    } finally {
      this.#inFlight.delete(id);
    }
    this.#server.behaviour.answered?.(method, this);
  }

  async #takeNotification(method: string, params: JsonObject): Promise<void> {
    try {
      await this.#server.behaviour.received?.(method, this);
    } catch {
      return; // a notification has no response that could contain the error
    }
    const { requestId } = params;
    if (method !== 'notifications/cancelled' || !isRequestId(requestId)) return;
    this.#inFlight.get(requestId)?.abort();
    this.#subscriptions.delete(requestId);
  }

  #settleQuestion(reply: JsonObject): void {
    if (!isRequestId(reply.id)) return;
    this.#questions.get(reply.id)?.(reply);
    this.#questions.delete(reply.id);
  }

  #eraOf(method: string, params: JsonObject): Era {
    const { eras } = this.#server.dialect;
    const claim = claimedRevision(params);
    if (!eras.includes('modern')) return this.#handshakeEra(method);
    if (claim === undefined && eras.includes('legacy') && method !== 'server/discover')
      return this.#handshakeEra(method);
    checkEnvelope(method, params, eras.includes('legacy') ? this.#server.dialect.handshakes : []);
    return 'modern';
  }

  #handshakeEra(method: string): Era {
    if (this.revision === undefined && method !== 'initialize' && method !== 'ping') {
      // Unknown methods are rejected as such even before the handshake, as most real servers do.
      const code = method === 'server/discover' ? METHOD_NOT_FOUND : INVALID_REQUEST;
      throw new RpcError(code, `${method} before initialize`, { status: 400 });
    }
    return 'legacy';
  }
}

function checkEnvelope(method: string, params: JsonObject, handshakes: readonly string[]): void {
  const claim = claimedRevision(params);
  const requested = method === 'initialize' && claim === undefined ? params.protocolVersion : claim;
  if (requested !== undefined && requested !== MODERN_REVISION) {
    const data = { supported: [MODERN_REVISION, ...handshakes], requested };
    throw new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', { data, status: 400 });
  }
  for (const key of [META.protocolVersion, META.clientCapabilities]) {
    if (toObject(params._meta)[key] === undefined) {
      throw new RpcError(INVALID_PARAMS, `_meta lacks ${key}`, { status: 400 });
    }
  }
}
