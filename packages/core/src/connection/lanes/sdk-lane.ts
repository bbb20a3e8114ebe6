/** The lane through the SDK's client: for connections without express lane, or if it is switched off. */

import type { Client, RequestOptions, StandardSchemaV1, Transport } from '@modelcontextprotocol/client';
import { toAbortSignal } from '../../async/cancel-signal.js';
import { timerDelay } from '../../async/timer-delay.js';
import type { TurnbuckleError } from '../../errors.js';
import type { Lane, LaneRequest, LaneResult } from './lane.js';
import { assertSerializable } from './serialize-request.js';
import { timeoutError, translateError } from './translate-error.js';

/** Accepts any result: it is passed on unchanged, and validated above the lane. */
const ANY_RESULT: StandardSchemaV1<unknown, LaneResult> = {
  '~standard': {
    version: 1,
    vendor: 'turnbuckle',
    validate: (value: unknown) => ({ value: value as LaneResult }),
  },
};

export interface SdkLaneOptions {
  readonly server: string;
  /** An older HTTP server keeps a session, and may lose it. */
  readonly hasSession?: () => boolean;
  /** Called on transports that do not notice their own end. */
  readonly onBroken?: (error: TurnbuckleError) => void;
}

export class SdkLane implements Lane {
  readonly #client: Client;
  readonly #options: SdkLaneOptions;

  constructor(client: Client, options: SdkLaneOptions) {
    this.#client = client;
    this.#options = options;
    if (client.transport !== undefined) delayResponses(client.transport);
  }

  async request(request: LaneRequest): Promise<LaneResult> {
    const { method, params, timeoutMs, maxTotalMs, signal, onProgress, headers } = request;
    assertSerializable(this.#options.server, params);
    // The SDK checks its own maximum only when progress comes.
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
      if (limit.signal.aborted) throw timeoutError({ server, step: 'call', timeoutMs: maxTotalMs }, thrown);
      const cancelled = signal?.aborted === true;
      const error = await translateError(thrown, {
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
 * The SDK handles a notification slightly after it arrives but a response immediately, and then forgets who wanted
 * its progress: progress right before the response would be lost.
 */
function delayResponses(transport: Transport): void {
  const take = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if ('method' in message) take?.(message, extra);
    else queueMicrotask(() => take?.(message, extra));
  };
}
