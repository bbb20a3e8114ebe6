/**
 * A loopback HTTP server for the redirect of one sign-in. Only a request with the right state completes it; all
 * others are rejected and have no effect.
 */
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceiverOptions {
  /** Use exactly this redirect URI; absent: any free port, and this path. */
  readonly redirectUri?: string | undefined;
  readonly path: string;
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

export class CallbackReceiver {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  #redirectUri = '';
  #state: string | undefined;
  #received: ((parameters: URLSearchParams) => void) | undefined;

  /** Rejects with the socket error if the port is in use. */
  static async open({ redirectUri, path }: ReceiverOptions): Promise<CallbackReceiver> {
    const receiver = new CallbackReceiver();
    const wanted = redirectUri === undefined ? undefined : new URL(redirectUri);
    const port = wanted === undefined ? 0 : Number(wanted.port || 80);
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', reject);
      receiver.#server.listen(port, '127.0.0.1', resolve);
    });
    const bound = receiver.#server.address() as AddressInfo;
    receiver.#redirectUri = redirectUri ?? `http://127.0.0.1:${bound.port}${path}`;
    return receiver;
  }

  get redirectUri(): string {
    return this.#redirectUri;
  }

  /** The parameters of the request that carries the state. */
  receive(state: string, signal: AbortSignal): Promise<URLSearchParams> {
    this.#state = state;
    return new Promise((resolve, reject) => {
      this.#received = resolve;
      signal.throwIfAborted();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const expected = new URL(this.#redirectUri);
    // Any local program can send requests: the URL may be invalid.
    const target = URL.canParse(request.url ?? '', this.#redirectUri)
      ? new URL(request.url ?? '', this.#redirectUri)
      : undefined;
    const ours =
      request.method === 'GET' &&
      target?.pathname === expected.pathname &&
      request.headers.host === expected.host;
    if (target === undefined || !ours || !this.#isExpectedState(target.searchParams.get('state'))) {
      response
        .writeHead(ours ? 400 : 404, HEADERS)
        .end(page('This request does not belong to a pending sign-in.'));
      return;
    }
    const failed = target.searchParams.has('error');
    const text = failed ? 'Sign-in failed.' : 'You are signed in.';
    response.writeHead(200, HEADERS).end(page(`${text} You can close this window.`));
    this.#received?.(target.searchParams);
    this.#state = undefined;
  }

  #isExpectedState(state: string | null): boolean {
    if (state === null || this.#state === undefined) return false;
    const [given, wanted] = [Buffer.from(state), Buffer.from(this.#state)];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

const page = (text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Turnbuckle</title><body style="font: 18px system-ui; margin: 4rem; color-scheme: light dark"><p>${text}</p></body></html>`;
