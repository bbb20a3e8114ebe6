/**
 * Keeps a flood of notifications from a server away from the rest of the host. Up to a rate they pass;
 * above it, "something changed" notices are kept, one of each kind, and delivered when the second is
 * over, and the rest is dropped and counted.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';

type Notification = Extract<JSONRPCMessage, { method: string }>;

const WINDOW_MS = 1_000;

export class NotificationGate {
  readonly #perSecond: number;
  readonly #kept = new Map<string, () => void>();
  #passed = 0;
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

  /** Any message: only notifications are held back. */
  passAny(message: JSONRPCMessage, deliver: (message: JSONRPCMessage) => void): void {
    if ('method' in message && !('id' in message)) this.pass(message, deliver);
    else deliver(message);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#kept.clear();
  }

  #turn(): void {
    this.#timer = undefined;
    this.#passed = 0;
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
