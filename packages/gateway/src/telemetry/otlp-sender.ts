/** Sends telemetry to a collector: OTLP over HTTP, JSON. */

import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';

export interface OtlpTarget {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Why a collector did not take it. */
export class ExportError extends Error {
  /** It may take the same data later. */
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary: boolean) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

/** The statuses after which the protocol allows to send again. */
const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const AGENT_OPTIONS = { keepAlive: true, maxSockets: 2, maxFreeSockets: 1 };
/** A collector answers with a few bytes. */
const MAX_ANSWER_BYTES = 64 * 1_024;

export class OtlpSender {
  readonly #target: OtlpTarget;
  readonly #onFailure: (error: Error) => void;
  readonly #requests = new Set<ClientRequest>();
  readonly #agent = new http.Agent(AGENT_OPTIONS);
  readonly #secureAgent = new https.Agent(AGENT_OPTIONS);
  #isFailing = false;

  /** `onFailure` gets the first failure after a success. */
  constructor(target: OtlpTarget, onFailure: (error: Error) => void) {
    this.#target = target;
    this.#onFailure = onFailure;
  }

  /** Undefined if the collector took it. Never rejects. */
  async send(body: string): Promise<ExportError | undefined> {
    const error = await this.#post(body).catch((thrown: unknown) => new ExportError(describe(thrown), true));
    if (error !== undefined && !this.#isFailing) this.#onFailure(error);
    this.#isFailing = error !== undefined;
    return error;
  }

  /** What is not sent by then fails. */
  endAfter(ms: number): void {
    setTimeout(() => {
      for (const request of this.#requests) request.destroy(new TimeoutError());
    }, ms).unref();
  }

  close(): void {
    this.#agent.destroy();
    this.#secureAgent.destroy();
  }

  #post(text: string): Promise<ExportError | undefined> {
    const { endpoint, headers, timeoutMs } = this.#target;
    const url = new URL(endpoint);
    const body = Buffer.from(text);
    const isSecure = url.protocol === 'https:';
    return new Promise((resolve) => {
      // Redirects are not followed: the headers may contain a credential, which is for this address alone.
      const request = (isSecure ? https : http).request(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
        agent: isSecure ? this.#secureAgent : this.#agent,
      });
      this.#requests.add(request);
      const timer = setTimeout(() => request.destroy(new TimeoutError()), timeoutMs);
      const finish = (error: ExportError | undefined): void => {
        clearTimeout(timer);
        this.#requests.delete(request);
        resolve(error);
      };
      const fail = (thrown: unknown): void => finish(new ExportError(describe(thrown), true));
      request.on('error', fail);
      let hasResponse = false;
      request.on('response', (response) => {
        hasResponse = true;
        skipBody(response).then(() => finish(errorOf(response.statusCode)), fail);
      });
      // With neither, such as after a switch of protocols that nobody asked for.
      request.on('close', () => {
        if (!hasResponse) fail(undefined);
      });
      request.end(body);
    });
  }
}

class TimeoutError extends Error {}

function errorOf(status = 0): ExportError | undefined {
  if (status >= 200 && status < 300) return undefined;
  return new ExportError(`The collector returned HTTP ${status}.`, TEMPORARY_STATUSES.has(status));
}

/** Reads the answer, so that the connection can be used again; a long one ends the connection. */
async function skipBody(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const part of response) {
    bytes += (part as Buffer).length;
    if (bytes > MAX_ANSWER_BYTES) return;
  }
}

/** Without the address, which may contain a credential. */
function describe(thrown: unknown): string {
  if (thrown instanceof TimeoutError) return 'The collector did not respond in time.';
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
  return `The collector cannot be reached${code === undefined ? '' : ` (${code})`}.`;
}
