/**
 * The handshake over a message channel (stdio, WebSocket) on the express lane alone: probes for the era, falls back
 * to `initialize`, answers requests of older servers. It avoids the SDK, which takes longer to load than a local
 * server to start, where it is not needed.
 */
import type { Implementation, JSONRPCMessage, ServerCapabilities } from '@modelcontextprotocol/client';
import { TurnbuckleError, toTurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import type { ChannelLane } from '../lanes/channel-lane.js';
import type { Envelope, LaneRequest, LaneResult } from '../lanes/lane.js';
import { serverError } from '../lanes/server-error.js';
import { timeoutError } from '../lanes/translate-error.js';
import type { ServerRequest } from '../protocol/message.js';
import { LEGACY_REVISIONS, MODERN_REVISION } from '../protocol/revisions.js';
import { ServerRequests } from '../server-requests/open-server-requests.js';
import type { Era } from './era-verdicts.js';
import { checkHandshakeSize, type ServerIdentity, truncateIdentity } from './handshake-limits.js';
import {
  type ListenFilter,
  type Peer,
  type PeerOptions,
  type Subscription,
  unknownRevision,
} from './peer.js';

export interface ChannelPeerOptions extends PeerOptions {
  readonly lane: ChannelLane;
}

/** Resolves with the negotiated peer; rejects with a TurnbuckleError whose code shows where it ended. */
export async function connectChannelPeer(options: ChannelPeerOptions): Promise<Peer> {
  const session = new ChannelSession(options);
  await options.lane.start();
  const discovered = options.era === 'legacy' ? undefined : await discover(options);
  return discovered === undefined ? initialize(options, session) : session.completeHandshake(discovered);
}

interface NegotiatedIdentity extends ServerIdentity {
  readonly era: Era;
  readonly protocolVersion: string;
}

const createEnvelope = ({ clientInfo, capabilities }: ChannelPeerOptions): Envelope => ({
  'io.modelcontextprotocol/protocolVersion': MODERN_REVISION,
  'io.modelcontextprotocol/clientInfo': { ...clientInfo },
  'io.modelcontextprotocol/clientCapabilities': { ...capabilities },
});

/** The server's identity if it supports the newer revision; undefined for an older server, whatever it responds. */
async function discover(options: ChannelPeerOptions): Promise<NegotiatedIdentity | undefined> {
  const only = options.era === 'modern';
  const result = await sendHandshakeRequest(
    options,
    { method: 'server/discover', params: { _meta: createEnvelope(options) } },
    only ? options.leftMs : options.leftMs / 2,
  ).catch((thrown: unknown) => {
    const error = toTurnbuckleError(thrown);
    if (only || (error.code !== 'SERVER_ERROR' && error.code !== 'CONNECT_TIMEOUT'))
      throw toProbeError(error, only);
    return undefined;
  });
  const versions = result?.supportedVersions;
  if (result === undefined || !Array.isArray(versions) || !versions.includes(MODERN_REVISION)) {
    if (only) throw unknownRevision(options.server, versions);
    return undefined;
  }
  const meta = isRecord(result._meta) ? result._meta : {};
  return {
    ...identityOf(result, meta['io.modelcontextprotocol/serverInfo']),
    era: 'modern',
    protocolVersion: MODERN_REVISION,
  };
}

async function initialize(options: ChannelPeerOptions, session: ChannelSession): Promise<Peer> {
  const { lane, server, capabilities, clientInfo } = options;
  const result = await sendHandshakeRequest(
    options,
    { method: 'initialize', params: { protocolVersion: LEGACY_REVISIONS[0], capabilities, clientInfo } },
    options.leftMs,
  );
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string' || !LEGACY_REVISIONS.includes(protocolVersion))
    throw unknownRevision(server, protocolVersion);
  await lane.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return session.completeHandshake({
    ...identityOf(result, result.serverInfo),
    era: 'legacy',
    protocolVersion,
  });
}

function identityOf(result: LaneResult, info: unknown): ServerIdentity {
  const named = isRecord(info) && typeof info.name === 'string';
  return truncateIdentity({
    serverInfo: named ? ({ ...info, version: String(info.version ?? '') } as Implementation) : undefined,
    // Only the presence of a capability or a flag of it is read: its content is untrusted.
    capabilities: (isRecord(result.capabilities) ? result.capabilities : {}) as ServerCapabilities,
    instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
  });
}

async function sendHandshakeRequest(
  { lane, server, signal, connectTimeoutMs }: ChannelPeerOptions,
  { method, params }: Pick<LaneRequest, 'method' | 'params'>,
  timeoutMs: number,
): Promise<LaneResult> {
  try {
    const result = await lane.request({ method, params, timeoutMs, maxTotalMs: timeoutMs, signal });
    const fault = checkHandshakeSize(server, result);
    if (fault !== undefined) throw fault;
    return result;
  } catch (thrown) {
    const error = toTurnbuckleError(thrown);
    throw error.code === 'CALL_TIMEOUT'
      ? timeoutError({ server, step: 'connect', timeoutMs: connectTimeoutMs }, error)
      : error;
  }
}

/** A failed probe is handled differently from a failed handshake. */
function toProbeError(error: TurnbuckleError, only: boolean): Error {
  if (only || error.code !== 'CONNECTION_LOST') return error;
  return Object.assign(new Error('The server exited during the probe', { cause: error }), {
    code: 'ERA_NEGOTIATION_FAILED',
  });
}

/** Everything from the server except responses to the lane. */
class ChannelSession {
  readonly #options: ChannelPeerOptions;
  readonly #serverRequests: ServerRequests;
  readonly #subscriptions = new Map<
    string,
    { opened: () => void; ended: (error?: TurnbuckleError) => void }
  >();
  #peer: Peer | undefined;
  #subscriptionCount = 0;

  constructor(options: ChannelPeerOptions) {
    this.#options = options;
    this.#serverRequests = new ServerRequests({
      guard: options.requestGuard,
      send: (message) => options.lane.send(message),
    });
    options.lane.onmessage = (message: JSONRPCMessage) => this.#onMessage(message);
    options.lane.onclose = () => this.#onClose();
  }

  completeHandshake(identity: NegotiatedIdentity): Peer {
    const { lane } = this.#options;
    if (identity.era === 'modern') lane.envelope = createEnvelope(this.#options);
    this.#peer = { ...identity, lane, listen: (filter, timeoutMs) => this.#listen(filter, timeoutMs) };
    return this.#peer;
  }

  #onMessage(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      const error = 'error' in message ? serverError(this.#options.server, message.error) : undefined;
      return this.#subscriptions.get(String(message.id))?.ended(error);
    }
    if ('id' in message) return this.#answerServerRequest(message as ServerRequest);
    const { method, params = {} } = message;
    if (method === 'notifications/cancelled') return this.#serverRequests.cancel(params.requestId);
    if (method === 'notifications/subscriptions/acknowledged') return this.#acknowledged(params);
    this.#options.onNotice(method, params);
  }

  /** Only older servers send requests; the newer revision does not allow them. */
  #answerServerRequest(question: ServerRequest): void {
    const { lane, responders } = this.#options;
    if (this.#peer?.era === 'modern') return;
    void lane.pauseTimeoutsDuring(this.#serverRequests.answer(question, responders.unambiguous));
  }

  #acknowledged(params: Readonly<Record<string, unknown>>): void {
    const meta = isRecord(params._meta) ? params._meta : {};
    this.#subscriptions.get(String(meta['io.modelcontextprotocol/subscriptionId']))?.opened();
  }

  #listen(filter: ListenFilter, timeoutMs: number): Promise<Subscription> {
    const { lane, server } = this.#options;
    const id = `listen:${this.#subscriptionCount}`;
    this.#subscriptionCount += 1;
    return new Promise<Subscription>((resolve, reject) => {
      let end: () => void = () => {};
      const closed = new Promise<void>((over) => {
        end = over;
      });
      const timer = setTimeout(
        () =>
          this.#subscriptions.get(id)?.ended(timeoutError({ server, step: 'call', timeoutMs }, undefined)),
        timeoutMs,
      );
      const close = async (): Promise<void> => {
        this.#subscriptions.get(id)?.ended();
        await lane
          .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
          .catch(() => {});
      };
      this.#subscriptions.set(id, {
        opened: () => {
          clearTimeout(timer);
          resolve({ closed, close });
        },
        ended: (error) => {
          clearTimeout(timer);
          this.#subscriptions.delete(id);
          reject(
            error ??
              new TurnbuckleError('CONNECTION_LOST', `Server "${server}" ended the subscription.`, {
                server,
              }),
          );
          end();
        },
      });
      const params = { notifications: filter, _meta: { ...lane.envelope } };
      lane
        .send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params })
        .catch(() => this.#subscriptions.get(id)?.ended());
    });
  }

  #onClose(): void {
    this.#serverRequests.close();
    for (const { ended } of [...this.#subscriptions.values()]) ended();
    this.#peer?.onclose?.();
  }
}
