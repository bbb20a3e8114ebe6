/**
 * Protects the host from a flood of notifications and requests. Up to a rate they pass; above it, change
 * notifications are kept, one of each kind, and delivered when the second is over; the rest is dropped and counted.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

type Notification = Extract<JSONRPCMessage, { method: string }>;

const WINDOW_MS = 1_000;

export class NotificationGate {
  readonly #perSecond: number;
  readonly #deferred = new Map<string, () => void>();
  #passed = 0;
  #requests = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  get dropped(): number {
    return this.#dropped;
  }

  pass(message: Notification, deliver: (message: Notification) => void): void {
    this.#timer ??= setTimeout(() => this.#startNextWindow(), WINDOW_MS).unref();
    this.#passed += 1;
    if (this.#passed <= this.#perSecond) return deliver(message);
    const kind = changeKind(message);
    if (kind === undefined || this.#deferred.size >= this.#perSecond) this.#dropped += 1;
    else this.#deferred.set(kind, () => deliver(message));
  }

  /** Any message: responses always pass. */
  passAny(message: JSONRPCMessage, deliver: (message: JSONRPCMessage) => void): void {
    if (!('method' in message)) deliver(message);
    else if ('id' in message) this.#passRequest(() => deliver(message));
    else this.pass(message, deliver);
  }

  /** Not even an error response: those would pile up for a server that sends without reading. */
  #passRequest(deliver: () => void): void {
    this.#timer ??= setTimeout(() => this.#startNextWindow(), WINDOW_MS).unref();
    this.#requests += 1;
    if (this.#requests <= this.#perSecond) deliver();
    else this.#dropped += 1;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#deferred.clear();
  }

  #startNextWindow(): void {
    this.#timer = undefined;
    this.#passed = 0;
    this.#requests = 0;
    const kept = [...this.#deferred.values()];
    this.#deferred.clear();
    for (const deliver of kept) deliver();
  }
}

/** Must not be lost: that a list or a resource changed. How often does not matter. */
function changeKind({ method, params }: Notification): string | undefined {
  if (method.endsWith('/list_changed')) return method;
  if (method === 'notifications/resources/updated') return `${method} ${String(params?.uri)}`;
  return undefined;
}
