/** Requests to a daemon or bridge: JSON in, JSON out, and its refusals as our own errors. */
import type { CancelSignal } from 'turnbuckle';
import { ERRORS, type ErrorCode, TurnbuckleError } from 'turnbuckle';
import { type Answered, type ExchangeOptions, exchange } from './exchange.js';
import { createEventReader } from './server-sent-events.js';

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
    return read(await this.#exchange(path, { silenceMs, signal }));
  }

  /** The same. Waits as long as it takes unless told otherwise. */
  async post<T>(path: string, body: unknown, { silenceMs, signal }: RequestOptions = {}): Promise<T> {
    return read(await this.#exchange(path, { method: 'POST', body, silenceMs, signal }));
  }

  /** Tells the events of a stream as they come, until it ends. */
  async follow(
    path: string,
    { signal, onEvent }: RequestOptions & { onEvent: (name: string, data: unknown) => void },
  ): Promise<void> {
    const onText = createEventReader((name, data) => onEvent(name, JSON.parse(data)));
    const accept = 'text/event-stream, application/json';
    const answered = await this.#exchange(path, { accept, signal, onText });
    if (answered.status >= 400) read(answered);
  }

  /** Posts and answers the data of the event `result`; the other events are told as they come. */
  async stream<T>(
    path: string,
    body: unknown,
    { signal, onEvent }: RequestOptions & { onEvent: (name: string, data: unknown) => void },
  ): Promise<T | undefined> {
    let result: T | undefined;
    const onText = createEventReader((name, data) => {
      if (name === 'result') result = JSON.parse(data);
      else onEvent(name, JSON.parse(data));
    });
    const accept = 'text/event-stream, application/json';
    const answered = await this.#exchange(path, { method: 'POST', body, accept, signal, onText });
    if (answered.status >= 400) read(answered);
    return result;
  }

  async #exchange(path: string, options: Omit<ExchangeOptions, 'url' | 'token'>): Promise<Answered> {
    const answered = await exchange({ ...options, url: this.url + path, token: this.token });
    this.problems = answered.problems;
    return answered;
  }
}

function read<T>({ status, text }: { readonly status: number; readonly text: string }): T {
  let value: unknown;
  try {
    value = text === '' ? undefined : JSON.parse(text);
  } catch {
    throw refusalOf({ error: `It answered with status ${status}, and not in JSON.` });
  }
  if (status >= 400)
    throw refusalOf(isRefusal(value) ? value : { error: `It answered with status ${status}.` });
  return value as T;
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
const isRefusal = (value: unknown): value is Refusal => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
