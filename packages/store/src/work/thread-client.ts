/** Runs operations on a database in a worker thread, so that no caller ever waits for SQLite on its event loop. */
import { Worker } from 'node:worker_threads';
import { CLOSE, type ThreadOperations, type ThreadResponse } from './thread-messages.js';

export interface ThreadClientOptions {
  /** The file that calls `serveThread`. */
  readonly file: URL;
  readonly data: unknown;
  /** The thread ended because of an error. */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

interface PendingOperation {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const CLOSE_MS = 5_000;

export class ThreadClient<Operations extends ThreadOperations> {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingOperation>();
  #lastNumber = 0;
  #failure: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor({ file, data, onFailure }: ThreadClientOptions) {
    // Options of the host, such as --eval, are not meant for the thread.
    this.#worker = new Worker(file, { workerData: data, execArgv: [] });
    this.#worker.on('message', (response: ThreadResponse) => this.#receive(response));
    this.#worker.on('error', (error) => {
      onFailure?.(error);
      this.#fail(error);
    });
    this.#worker.on('exit', () => this.#fail(new Error('The database is closed.')));
    this.#worker.unref();
  }

  /** Operations run in the order in which they are asked for. */
  run<Name extends keyof Operations & string>(
    operation: Name,
    ...values: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    return this.#send(operation, values) as Promise<ReturnType<Operations[Name]>>;
  }

  /** Ends the thread after the operations that were asked for. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_MS);
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#send(CLOSE, []).catch(() => {});
    if (this.#failure === undefined) await ended;
    clearTimeout(timer);
  }

  #send(operation: string, values: readonly unknown[]): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    return new Promise((resolve, reject) => {
      this.#pending.set(number, { resolve, reject });
      // While an operation runs, the process stays up for its result.
      this.#worker.ref();
      this.#worker.postMessage({ number, operation, values });
    });
  }

  #receive({ number, value, error }: ThreadResponse): void {
    const pending = this.#pending.get(number);
    this.#pending.delete(number);
    if (this.#pending.size === 0) this.#worker.unref();
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(new Error(error));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}
