/** Notifies clients of changes: of lists after a short delay, many changes as one; of resources immediately. */
import type { Runtime } from 'turnbuckle';

export type ChangeKind = 'tools' | 'prompts' | 'resources';

export type ChangeListener = (kind: ChangeKind) => void;

const BATCH_MS = 20;

export class ChangeNotifier {
  readonly #listeners = new Set<ChangeListener>();
  readonly #closeListeners = new Set<() => void>();
  readonly #changed = new Set<ChangeKind>();
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onChange` runs first, before any client is notified. */
  constructor(runtime: Runtime, onChange: () => void) {
    this.#stop = runtime.on('catalog.changed', ({ kind }) => {
      onChange();
      this.#changed.add(kind);
      this.#timer ??= setTimeout(() => this.#notify(), BATCH_MS).unref();
    });
  }

  /** Returns a function that unsubscribes. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Suspends all notifications. Returns a function that resumes them. */
  onClose(end: () => void): () => void {
    this.#closeListeners.add(end);
    return () => this.#closeListeners.delete(end);
  }

  close(): void {
    this.#stop();
    for (const end of [...this.#closeListeners]) end();
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #notify(): void {
    this.#timer = undefined;
    const kinds = [...this.#changed];
    this.#changed.clear();
    for (const listener of [...this.#listeners]) for (const kind of kinds) listener(kind);
  }
}
