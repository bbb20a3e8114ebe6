/** The agent of a daemon: requests to it that outlast a restart of the daemon, and its refusals as next steps. */
import { setTimeout as delay } from 'node:timers/promises';
import { TurnbuckleError } from 'turnbuckle';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { NoResponseError } from '../daemon/http/send-request.js';
import type { Output } from '../terminal/output.js';

/** A daemon that restarts lets running calls finish first. */
const RECONNECT_MS = 20_000;
const RETRY_MS = 250;

export interface AgentLinkOptions {
  readonly client: DaemonClient;
  /** The daemon that runs now: after a restart it may have another address. */
  readonly find: () => DaemonClient | undefined;
  readonly output: Output;
  readonly signal: AbortSignal;
}

export class AgentLink {
  readonly #options: AgentLinkOptions;
  #client: DaemonClient;
  /** Only a daemon that has answered is waited for. */
  #hasAnswered = false;

  constructor(options: AgentLinkOptions) {
    this.#options = options;
    this.#client = options.client;
  }

  get<T>(path: string): Promise<T> {
    return this.#send((client) => client.get<T>(path, this.#options));
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.#send((client) => client.post<T>(path, body, this.#options));
  }

  async #send<T>(request: (client: DaemonClient) => Promise<T>): Promise<T> {
    const { output, signal, find } = this.#options;
    const end = performance.now() + RECONNECT_MS;
    for (let isFirst = true; ; isFirst = false) {
      try {
        const answer = await request(this.#client);
        this.#hasAnswered = true;
        return answer;
      } catch (error) {
        if (!isRestarting(error)) throw await this.#explain(error);
        if (!this.#hasAnswered || performance.now() > end) throw noResponse(this.#client, error);
        if (isFirst) output.note('The daemon is not responding. Waiting for it to restart.');
        await delay(RETRY_MS, undefined, { signal });
        this.#client = find() ?? this.#client;
      }
    }
  }

  /** The API speaks of its routes; people need commands. */
  async #explain(error: unknown): Promise<unknown> {
    if (error instanceof NoResponseError) return connectionLost(this.#client, error);
    if (!(error instanceof TurnbuckleError)) return error;
    if (error.code !== 'PATH_UNKNOWN' && error.code !== 'OVERLOADED') return error;
    if (error.data?.bridge !== undefined) return error;
    const refusal = await this.#client.get('/agent/stats', this.#options).catch((thrown: unknown) => thrown);
    if (refusal instanceof TurnbuckleError)
      return refusal.code === 'PATH_UNKNOWN' ? withoutAgent(error) : error;
    const hint =
      error.code === 'PATH_UNKNOWN'
        ? 'To start a new conversation, omit the id. To list open conversations: turnbuckle chat --list'
        : 'Increase agent.maxConversations in your config file, or end a conversation (turnbuckle chat --end <id>). To list open conversations: turnbuckle chat --list';
    return new TurnbuckleError(error.code, error.message, { hint, cause: error });
  }
}

/** Nothing was done, and it can be sent again when the daemon runs. */
const isRestarting = (error: unknown): error is Error =>
  error instanceof NoResponseError
    ? !error.mayHaveActed
    : error instanceof TurnbuckleError && error.code === 'RUNTIME_CLOSED';

const noResponse = ({ url, isNamed }: DaemonClient, cause: Error): TurnbuckleError =>
  new TurnbuckleError('CONNECT_FAILED', `No response from the daemon at ${url}: ${cause.message}.`, {
    cause,
    hint: isNamed
      ? 'Check MCP_BRIDGE_URL, or unset it to use the daemon on this machine.'
      : 'Check whether the daemon is running (turnbuckle serve status), or start it: turnbuckle serve start',
  });

const connectionLost = ({ url }: DaemonClient, cause: Error): TurnbuckleError =>
  new TurnbuckleError('CONNECTION_LOST', `Lost the connection to the daemon at ${url}: ${cause.message}.`, {
    cause,
    hint: 'The message may have arrived. Check the daemon: turnbuckle serve status',
  });

/** A daemon without an agent does not know its routes. */
const withoutAgent = (cause: TurnbuckleError): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', 'The daemon has no agent.', {
    cause,
    hint: 'Set agent.model in your config file, and remove "enabled": false from "agent" if it is set. To try the agent without a model: turnbuckle chat --demo',
  });
