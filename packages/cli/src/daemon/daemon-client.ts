/** Requests to a daemon or bridge: JSON in, JSON out, and its refusals as our own errors. */

import { type ErrorCode, TurnbuckleError } from 'turnbuckle';
import type { CancelSignal } from 'turnbuckle/host';
import { ERRORS, isRecord } from 'turnbuckle/host';
import { type HttpRequestOptions, type HttpResponse, sendRequest } from './http/send-request.js';
import { createEventReader } from './http/server-sent-events.js';
import {
  isUnexpectedShape,
  MAX_RESPONSE_BYTES,
  responseTooLarge,
  unusableResponse,
} from './unusable-response.js';

/** Where it is, and the token for it. */
export interface DaemonAddress {
  readonly url: string;
  readonly token?: string | undefined;
  /** Named by MCP_BRIDGE_URL, which may point to a bridge. */
  readonly isNamed?: boolean | undefined;
}

export interface RequestOptions {
  readonly signal?: CancelSignal | undefined;
  /** Idle timeout: no data for this long means no response. */
  readonly idleTimeoutMs?: number | undefined;
}

export interface DaemonErrorBody {
  readonly error?: unknown;
  readonly code?: unknown;
  readonly hint?: unknown;
  readonly server?: unknown;
  readonly tool?: unknown;
  readonly data?: unknown;
}

/** A running daemon answers small requests immediately. */
const DEFAULT_IDLE_TIMEOUT_MS = 5_000;

export class DaemonClient {
  readonly url: string;
  /** How much was wrong with its configuration when it answered last. */
  problemCount = 0;
  readonly token: string | undefined;
  readonly isNamed: boolean;

  constructor({ url, token, isNamed = false }: DaemonAddress) {
    this.url = url.replace(/\/+$/, '');
    this.token = token;
    this.isNamed = isNamed;
  }

  /** Rejects with the daemon's refusal as a TurnbuckleError, or with NoAnswer. */
  async get<T>(
    path: string,
    { idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS, signal }: RequestOptions = {},
  ): Promise<T> {
    return this.#request(path, { idleTimeoutMs, signal });
  }

  /** The same. No timeout by default. */
  async post<T>(path: string, body: unknown, { idleTimeoutMs, signal }: RequestOptions = {}): Promise<T> {
    return this.#request(path, { method: 'POST', body, idleTimeoutMs, signal });
  }

  /** The same for a DELETE. */
  async delete<T>(path: string, { idleTimeoutMs, signal }: RequestOptions = {}): Promise<T> {
    return this.#request(path, { method: 'DELETE', idleTimeoutMs, signal });
  }

  async #request<T>(path: string, options: Omit<HttpRequestOptions, 'url' | 'token'>): Promise<T> {
    const answered = await this.#send(path, options);
    if (answered.status === 404 && this.isNamed && (await this.#isBridge())) throw bridgeOnly(this.url);
    return this.#read(answered);
  }

  /** Every daemon has this route, whatever a token may do; a bridge has none of the API. */
  async #isBridge(): Promise<boolean> {
    const statusOf = async (path: string): Promise<number> =>
      (await this.#send(path, { idleTimeoutMs: DEFAULT_IDLE_TIMEOUT_MS })).status;
    return (await statusOf('/api/daemon')) === 404 && (await statusOf('/ready')) === 200;
  }

  /** Passes on the events of a stream until it ends. */
  async follow(
    path: string,
    { signal, onEvent }: RequestOptions & { onEvent: (name: string, data: unknown) => void },
  ): Promise<void> {
    const onText = this.#createEventReader((name, data) => onEvent(name, this.#parse(data)));
    const accept = 'text/event-stream, application/json';
    const answered = await this.#send(path, { accept, signal, onText });
    if (answered.status >= 300) this.#read(answered);
  }

  /** Posts and returns the data of the event `result`; passes on the other events. */
  async stream<T>(
    path: string,
    body: unknown,
    { signal, onEvent }: RequestOptions & { onEvent: (name: string, data: unknown) => void },
  ): Promise<T | undefined> {
    let result: T | undefined;
    const onText = this.#createEventReader((name, data) => {
      if (name === 'result') result = this.#parse(data) as T;
      else onEvent(name, this.#parse(data));
    });
    const accept = 'text/event-stream, application/json';
    const answered = await this.#send(path, { method: 'POST', body, accept, signal, onText });
    if (answered.status >= 300) this.#read(answered);
    return result;
  }

  async #send(path: string, options: Omit<HttpRequestOptions, 'url' | 'token'>): Promise<HttpResponse> {
    const answered = await sendRequest({ ...options, url: this.url + path, token: this.token });
    this.problemCount = answered.problemCount;
    return answered;
  }

  /** Rethrows parse errors of its responses as UnusableResponse errors, and all others unchanged. */
  rethrowAsUnusable(error: unknown): never {
    if (!isUnexpectedShape(error)) throw error;
    const what = 'sent a response that this command does not understand';
    throw unusableResponse(this.url, what, { cause: error });
  }

  #createEventReader(onEvent: (name: string, data: string) => void): (text: string) => void {
    return createEventReader(onEvent, {
      maxCharacters: MAX_RESPONSE_BYTES,
      createError: () => responseTooLarge(this.url),
    });
  }

  #read<T>({ status, text }: HttpResponse): T {
    if (status >= 300 && status < 400)
      throw unusableResponse(
        this.url,
        `sent a redirect (status ${status}), which Turnbuckle does not follow`,
      );
    if (text === '') throw unusableResponse(this.url, `responded with status ${status} and an empty body`);
    const value = this.#parse(text, status);
    if (status >= 400) throw errorFromBody(value);
    return value as T;
  }

  #parse(text: string, status = 200): Readonly<Record<string, unknown>> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw unusableResponse(this.url, `responded with status ${status} and a body that is not JSON`, {
        cause,
      });
    }
    if (isRecord(value)) return value;
    throw unusableResponse(this.url, `responded with status ${status} and JSON that is not an object`);
  }
}

const bridgeOnly = (url: string): TurnbuckleError =>
  new TurnbuckleError(
    'PATH_UNKNOWN',
    `MCP_BRIDGE_URL points to a bridge (${url}), which only serves calls.`,
    {
      hint: 'This command needs a daemon. Set MCP_BRIDGE_URL to the URL of a daemon, or unset MCP_BRIDGE_URL to use the daemon on this machine. Commands that can work without a daemon accept --no-daemon.',
      data: { bridge: url },
    },
  );

/** The error of a response of the daemon. */
export function errorFromBody({ error, code, hint, server, tool, data }: DaemonErrorBody): TurnbuckleError {
  const known = typeof code === 'string' && isCode(code) ? code : 'SERVER_ERROR';
  return new TurnbuckleError(
    known,
    textOf(error) ?? 'The daemon rejected the request without giving a reason.',
    {
      hint: textOf(hint),
      server: textOf(server),
      tool: textOf(tool),
      ...(isRecord(data) && { data }),
    },
  );
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
