/** The lane through the SDK's client: for connections the express lane cannot ride, and to switch it off. */
import type { Client, RequestOptions, StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { Lane, LaneRequest, LaneResult } from './lane.js';
import { translate } from './translate.js';

/** Accepts any result: what a call brings back is passed on as it is, checks are made above the lane. */
const ANY_RESULT: StandardSchemaV1<unknown, LaneResult> = {
  '~standard': {
    version: 1,
    vendor: 'turnbuckle',
    validate: (value: unknown) => ({ value: value as LaneResult }),
  },
};

export class SdkLane implements Lane {
  readonly #client: Client;
  readonly #server: string;

  constructor(client: Client, server: string) {
    this.#client = client;
    this.#server = server;
  }

  async request(request: LaneRequest): Promise<LaneResult> {
    const { method, params, timeoutMs, maxTotalMs, signal, onProgress, headers } = request;
    const options: RequestOptions = {
      timeout: timeoutMs,
      maxTotalTimeout: maxTotalMs,
      resetTimeoutOnProgress: true,
      allowInputRequired: true,
      ...(signal && { signal }),
      ...(onProgress && { onprogress: onProgress }),
      ...(headers && { headers }),
    };
    try {
      return await this.#client.request({ method, params }, ANY_RESULT, options);
    } catch (thrown) {
      throw await translate(thrown, {
        server: this.#server,
        step: 'call',
        cancelled: signal?.aborted === true,
      });
    }
  }
}
