/** The lane through the SDK's client: for connections the express lane cannot ride, and to switch it off. */

import type { Client, RequestOptions, StandardSchemaV1, Transport } from '@modelcontextprotocol/client';
import { toAbortSignal } from '../cancel-signal.js';
import type { TurnbuckleError } from '../errors.js';
import { timerDelay } from '../resilience/timer-delay.js';
import type { Lane, LaneRequest, LaneResult } from './lane.js';
import { requestText } from './request-text.js';
import { timedOut, translate } from './translate.js';

/** Accepts any result: what a call brings back is passed on as it is, checks are made above the lane. */
const ANY_RESULT: StandardSchemaV1<unknown, LaneResult> = {
  '~standard': {
    version: 1,
    vendor: 'turnbuckle',
    validate: (value: unknown) => ({ value: value as LaneResult }),
  },
};

export interface SdkLaneOptions {
  readonly server: string;
  /** An older HTTP server keeps a session, and may forget it. */
  readonly hasSession?: () => boolean;
  /** Told on transports that do not notice their own end. */
  readonly onBroken?: (error: TurnbuckleError) => void;
}

export class SdkLane implements Lane {
  readonly #client: Client;
  readonly #options: SdkLaneOptions;

  constructor(client: Client, options: SdkLaneOptions) {
    this.#client = client;
    this.#options = options;
    if (client.transport !== undefined) delayAnswers(client.transport);
  }

  async request(request: LaneRequest): Promise<LaneResult> {
    const { method, params, timeoutMs, maxTotalMs, signal, onProgress, headers } = request;
    requestText(this.#options.server, params);
    // The SDK looks at its own maximum only when progress comes.
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timerDelay(maxTotalMs));
    const options: RequestOptions = {
      timeout: timerDelay(timeoutMs),
      resetTimeoutOnProgress: true,
      allowInputRequired: true,
      signal: signal === undefined ? limit.signal : AbortSignal.any([toAbortSignal(signal), limit.signal]),
      ...(onProgress && { onprogress: onProgress }),
      ...(headers && { headers }),
    };
    try {
      return await this.#client.request({ method, params }, ANY_RESULT, options);
    } catch (thrown) {
      const { server, hasSession, onBroken } = this.#options;
      if (limit.signal.aborted) throw timedOut({ server, step: 'call', timeoutMs: maxTotalMs }, thrown);
      const cancelled = signal?.aborted === true;
      const error = await translate(thrown, {
        server,
        step: 'call',
        timeoutMs,
        cancelled,
        hasSession: hasSession?.() ?? false,
      });
      if (error.code === 'AUTH_REQUIRED' || error.code === 'CONNECTION_LOST') onBroken?.(error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * The SDK acts on a notification a moment after it came, on an answer at once, and forgets with it who wanted
 * its progress: what came right before the answer would be lost.
 */
function delayAnswers(transport: Transport): void {
  const take = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if ('method' in message) take?.(message, extra);
    else queueMicrotask(() => take?.(message, extra));
  };
}
