/** Requests to a daemon or bridge: JSON in, JSON out, and its refusals as our own errors. */
import type { CancelSignal } from 'turnbuckle';
import { ERRORS, type ErrorCode, TurnbuckleError } from 'turnbuckle';
import { type Answered, type ExchangeOptions, exchange } from './exchange.js';
import { createEventReader } from './server-sent-events.js';
import { isMisread, MAX_ANSWER_BYTES, tooLong, unusable } from './unusable-answer.js';

/** Where it is, and the token for it. */
export interface DaemonPlace {
  readonly url: string;
  readonly token?: string | undefined;
}

export interface RequestOptions {
  readonly signal?: CancelSignal | undefined;
  /** Nothing came for so long: it does not answer. */
  readonly silenceMs?: number | undefined;
}

export interface Refusal {
  readonly error?: unknown;
  readonly code?: unknown;
  readonly hint?: unknown;
  readonly server?: unknown;
  readonly tool?: unknown;
  readonly data?: unknown;
}

/** A daemon that lives answers small things at once. */
const SILENCE_MS = 5_000;

export class DaemonClient {
  readonly url: string;
  /** How much was wrong with its configuration when it answered last. */
  problems = 0;
  readonly token: string | undefined;

  constructor({ url, token }: DaemonPlace) {
    this.url = url.replace(/\/+$/, '');
    this.token = token;
  }

  /** Rejects with the daemon's refusal as a TurnbuckleError, or with NoAnswer. */
  async get<T>(path: string, { silenceMs = SILENCE_MS, signal }: RequestOptions = {}): Promise<T> {
    return this.#read(await this.#exchange(path, { silenceMs, signal }));
  }

  /** The same. Waits as long as it takes unless told otherwise. */
  async post<T>(path: string, body: unknown, { silenceMs, signal }: RequestOptions = {}): Promise<T> {
    return this.#read(await this.#exchange(path, { method: 'POST', body, silenceMs, signal }));
  }

  /** The same for a DELETE. */
  async delete<T>(path: string, { silenceMs, signal }: RequestOptions = {}): Promise<T> {
    return this.#read(await this.#exchange(path, { method: 'DELETE', silenceMs, signal }));
  }

  /** Tells the events of a stream as they come, until it ends. */
  async follow(
    path: string,
    { signal, onEvent }: RequestOptions & { onEvent: (name: string, data: unknown) => void },
  ): Promise<void> {
    const onText = this.#events((name, data) => onEvent(name, this.#parse(data)));
    const accept = 'text/event-stream, application/json';
    const answered = await this.#exchange(path, { accept, signal, onText });
    if (answered.status >= 300) this.#read(answered);
  }

  /** Posts and answers the data of the event `result`; the other events are told as they come. */
  async stream<T>(
    path: string,
    body: unknown,
    { signal, onEvent }: RequestOptions & { onEvent: (name: string, data: unknown) => void },
  ): Promise<T | undefined> {
    let result: T | undefined;
    const onText = this.#events((name, data) => {
      if (name === 'result') result = this.#parse(data) as T;
      else onEvent(name, this.#parse(data));
    });
    const accept = 'text/event-stream, application/json';
    const answered = await this.#exchange(path, { method: 'POST', body, accept, signal, onText });
    if (answered.status >= 300) this.#read(answered);
    return result;
  }

  async #exchange(path: string, options: Omit<ExchangeOptions, 'url' | 'token'>): Promise<Answered> {
    const answered = await exchange({ ...options, url: this.url + path, token: this.token });
    this.problems = answered.problems;
    return answered;
  }

  /** Throws what its answers were not understood with as an error that says so; any other as it is. */
  misread(error: unknown): never {
    if (!isMisread(error)) throw error;
    const what = 'answers with what this command does not understand';
    throw unusable(this.url, what, { cause: error });
  }

  #events(onEvent: (name: string, data: string) => void): (text: string) => void {
    return createEventReader(onEvent, { max: MAX_ANSWER_BYTES, tooLong: () => tooLong(this.url) });
  }

  #read<T>({ status, text }: Answered): T {
    if (status >= 300 && status < 400)
      throw unusable(this.url, `sends this command elsewhere (status ${status}), where it does not go`);
    if (text === '') throw unusable(this.url, `answers with status ${status} and nothing else`);
    const value = this.#parse(text, status);
    if (status >= 400) throw refusalOf(value);
    return value as T;
  }

  #parse(text: string, status = 200): Readonly<Record<string, unknown>> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw unusable(this.url, `answers with status ${status}, and not in JSON`, { cause });
    }
    if (isRecord(value)) return value;
    throw unusable(this.url, `answers with status ${status}, and with JSON that is no object`);
  }
}

/** What the daemon says is wrong, as if it had happened here. */
export function refusalOf({ error, code, hint, server, tool, data }: Refusal): TurnbuckleError {
  const known = typeof code === 'string' && isCode(code) ? code : 'SERVER_ERROR';
  return new TurnbuckleError(known, textOf(error) ?? 'The daemon refuses without a reason.', {
    hint: textOf(hint),
    server: textOf(server),
    tool: textOf(tool),
    ...(isRecord(data) && { data }),
  });
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
