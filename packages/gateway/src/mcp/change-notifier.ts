/** Tells clients that something changed: lists soon after, several changes at once as one; resources at once. */
import type { Runtime } from 'turnbuckle';

export type ChangeKind = 'tools' | 'prompts' | 'resources';

export type ChangeListener = (kind: ChangeKind) => void;

const TOGETHER_MS = 20;

export class Changes {
  readonly #listeners = new Set<ChangeListener>();
  readonly #ends = new Set<() => void>();
  readonly #changed = new Set<ChangeKind>();
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onChange` comes first, before anybody is told. */
  constructor(runtime: Runtime, onChange: () => void) {
    this.#stop = runtime.on('catalog.changed', ({ kind }) => {
      onChange();
      this.#changed.add(kind);
      this.#timer ??= setTimeout(() => this.#tell(), TOGETHER_MS).unref();
    });
  }

  /** Returns the function that ends it. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Nobody will be told any more. Returns the function that takes it back. */
  onClose(end: () => void): () => void {
    this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  close(): void {
    this.#stop();
    for (const end of [...this.#ends]) end();
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #tell(): void {
    this.#timer = undefined;
    const kinds = [...this.#changed];
    this.#changed.clear();
    for (const listener of [...this.#listeners]) for (const kind of kinds) listener(kind);
  }
}
