/**
 * Keeps a flood of notifications and requests from a server away from the rest of the host. Up to a rate
 * they pass; above it, "something changed" notices are kept, one of each kind, and delivered when the second
 * is over, and the rest is dropped and counted.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

type Notification = Extract<JSONRPCMessage, { method: string }>;

const WINDOW_MS = 1_000;

export class NotificationGate {
  readonly #perSecond: number;
  readonly #kept = new Map<string, () => void>();
  #passed = 0;
  #asked = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  get dropped(): number {
    return this.#dropped;
  }

  pass(message: Notification, deliver: (message: Notification) => void): void {
    this.#timer ??= setTimeout(() => this.#turn(), WINDOW_MS).unref();
    this.#passed += 1;
    if (this.#passed <= this.#perSecond) return deliver(message);
    const kind = changeKind(message);
    if (kind === undefined || this.#kept.size >= this.#perSecond) this.#dropped += 1;
    else this.#kept.set(kind, () => deliver(message));
  }

  /** Any message: answers always pass. */
  passAny(message: JSONRPCMessage, deliver: (message: JSONRPCMessage) => void): void {
    if (!('method' in message)) deliver(message);
    else if ('id' in message) this.#passRequest(() => deliver(message));
    else this.pass(message, deliver);
  }

  /** Not even refused: the refusals would pile up for a server that asks without reading. */
  #passRequest(deliver: () => void): void {
    this.#timer ??= setTimeout(() => this.#turn(), WINDOW_MS).unref();
    this.#asked += 1;
    if (this.#asked <= this.#perSecond) deliver();
    else this.#dropped += 1;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#kept.clear();
  }

  #turn(): void {
    this.#timer = undefined;
    this.#passed = 0;
    this.#asked = 0;
    const kept = [...this.#kept.values()];
    this.#kept.clear();
    for (const deliver of kept) deliver();
  }
}

/** What may not get lost: that a list or a resource changed. How often it changed does not matter. */
function changeKind({ method, params }: Notification): string | undefined {
  if (method.endsWith('/list_changed')) return method;
  if (method === 'notifications/resources/updated') return `${method} ${String(params?.uri)}`;
  return undefined;
}
