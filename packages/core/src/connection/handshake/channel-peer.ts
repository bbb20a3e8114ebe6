/**
 * The handshake over a message channel (stdio, WebSocket) on the express lane alone: asks for the era in
 * place, falls back to `initialize`, answers what an older server asks back. It keeps the SDK, which takes
 * longer to load than a local server to start, out of the way where it is not needed.
 */
import type { Implementation, JSONRPCMessage, ServerCapabilities } from '@modelcontextprotocol/client';
import { TurnbuckleError, toTurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import type { ChannelLane } from './channel-lane.js';
import type { Era } from './era-verdicts.js';
import { boundIdentity, handshakeFault, type Identity } from './handshake.js';
import type { Envelope, LaneResult } from './lane.js';
import type { ServerQuestion } from './message.js';
import {
  type ListenFilter,
  type Listening,
  MODERN_REVISION,
  OLDER_REVISIONS,
  type Peer,
  type PeerOptions,
  unknownRevision,
} from './peer.js';
import { Questions } from './questions.js';
import { serverError } from './server-error.js';
import { timedOut } from './translate.js';

export interface ChannelPeerOptions extends PeerOptions {
  readonly lane: ChannelLane;
}

/** Resolves with the negotiated peer; rejects with a TurnbuckleError whose code tells where it ended. */
export async function connectChannelPeer(options: ChannelPeerOptions): Promise<Peer> {
  const conversation = new Conversation(options);
  await options.lane.start();
  const discovered = options.era === 'legacy' ? undefined : await discover(options);
  return discovered === undefined ? initialize(options, conversation) : conversation.settle(discovered);
}

interface Negotiated extends Identity {
  readonly era: Era;
  readonly protocolVersion: string;
}

const envelopeOf = ({ clientInfo, capabilities }: ChannelPeerOptions): Envelope => ({
  'io.modelcontextprotocol/protocolVersion': MODERN_REVISION,
  'io.modelcontextprotocol/clientInfo': { ...clientInfo },
  'io.modelcontextprotocol/clientCapabilities': { ...capabilities },
});

/** Who it is, if it speaks the newer revision; undefined when it is an older server, by whatever it answers. */
async function discover(options: ChannelPeerOptions): Promise<Negotiated | undefined> {
  const only = options.era === 'modern';
  const result = await ask(
    options,
    'server/discover',
    { _meta: envelopeOf(options) },
    only ? options.leftMs : options.leftMs / 2,
  ).catch((thrown: unknown) => {
    const error = toTurnbuckleError(thrown);
    if (only || (error.code !== 'SERVER_ERROR' && error.code !== 'CONNECT_TIMEOUT'))
      throw probeFailed(error, only);
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

async function initialize(options: ChannelPeerOptions, conversation: Conversation): Promise<Peer> {
  const { lane, server, capabilities, clientInfo } = options;
  const result = await ask(
    options,
    'initialize',
    { protocolVersion: OLDER_REVISIONS[0], capabilities, clientInfo },
    options.leftMs,
  );
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string' || !OLDER_REVISIONS.includes(protocolVersion))
    throw unknownRevision(server, protocolVersion);
  await lane.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return conversation.settle({ ...identityOf(result, result.serverInfo), era: 'legacy', protocolVersion });
}

function identityOf(result: LaneResult, info: unknown): Identity {
  const named = isRecord(info) && typeof info.name === 'string';
  return boundIdentity({
    serverInfo: named ? ({ ...info, version: String(info.version ?? '') } as Implementation) : undefined,
    // A capability is only ever asked whether it is there, or for a flag: its inside is the server's word.
    capabilities: (isRecord(result.capabilities) ? result.capabilities : {}) as ServerCapabilities,
    instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
  });
}

async function ask(
  { lane, server, signal, connectTimeoutMs }: ChannelPeerOptions,
  method: string,
  params: Readonly<Record<string, unknown>>,
  timeoutMs: number,
): Promise<LaneResult> {
  try {
    const result = await lane.request({ method, params, timeoutMs, maxTotalMs: timeoutMs, signal });
    const fault = handshakeFault(server, result);
    if (fault !== undefined) throw fault;
    return result;
  } catch (thrown) {
    const error = toTurnbuckleError(thrown);
    throw error.code === 'CALL_TIMEOUT'
      ? timedOut({ server, step: 'connect', timeoutMs: connectTimeoutMs }, error)
      : error;
  }
}

/** An ended probe has another way out than an ended handshake. */
function probeFailed(error: TurnbuckleError, only: boolean): Error {
  if (only || error.code !== 'CONNECTION_LOST') return error;
  return Object.assign(new Error('The server ended during the probe', { cause: error }), {
    code: 'ERA_NEGOTIATION_FAILED',
  });
}

/** Everything that comes from the server beside answers to the lane. */
class Conversation {
  readonly #options: ChannelPeerOptions;
  readonly #questions: Questions;
  readonly #listening = new Map<string, { opened: () => void; ended: (error?: TurnbuckleError) => void }>();
  #peer: Peer | undefined;
  #listens = 0;

  constructor(options: ChannelPeerOptions) {
    this.#options = options;
    this.#questions = new Questions({
      guard: options.requests,
      send: (message) => options.lane.send(message),
    });
    options.lane.onmessage = (message: JSONRPCMessage) => this.#receive(message);
    options.lane.onclose = () => this.#closed();
  }

  settle(identity: Negotiated): Peer {
    const { lane } = this.#options;
    if (identity.era === 'modern') lane.envelope = envelopeOf(this.#options);
    this.#peer = { ...identity, lane, listen: (filter, timeoutMs) => this.#listen(filter, timeoutMs) };
    return this.#peer;
  }

  #receive(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      const error = 'error' in message ? serverError(this.#options.server, message.error) : undefined;
      return this.#listening.get(String(message.id))?.ended(error);
    }
    if ('id' in message) return this.#answer(message as ServerQuestion);
    const { method, params = {} } = message;
    if (method === 'notifications/cancelled') return this.#questions.cancel(params.requestId);
    if (method === 'notifications/subscriptions/acknowledged') return this.#acknowledged(params);
    this.#options.onNotice(method, params);
  }

  /** Only older servers ask; in the newer revision a request of the server's has no place. */
  #answer(question: ServerQuestion): void {
    const { lane, respondents } = this.#options;
    if (this.#peer?.era === 'modern') return;
    void lane.whileAsking(this.#questions.answer(question, respondents.only));
  }

  #acknowledged(params: Readonly<Record<string, unknown>>): void {
    const meta = isRecord(params._meta) ? params._meta : {};
    this.#listening.get(String(meta['io.modelcontextprotocol/subscriptionId']))?.opened();
  }

  #listen(filter: ListenFilter, timeoutMs: number): Promise<Listening> {
    const { lane, server } = this.#options;
    const id = `listen:${this.#listens}`;
    this.#listens += 1;
    return new Promise<Listening>((resolve, reject) => {
      let end: () => void = () => {};
      const closed = new Promise<void>((over) => {
        end = over;
      });
      const timer = setTimeout(
        () => this.#listening.get(id)?.ended(timedOut({ server, step: 'call', timeoutMs }, undefined)),
        timeoutMs,
      );
      const close = async (): Promise<void> => {
        this.#listening.get(id)?.ended();
        await lane
          .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
          .catch(() => {});
      };
      this.#listening.set(id, {
        opened: () => {
          clearTimeout(timer);
          resolve({ closed, close });
        },
        ended: (error) => {
          clearTimeout(timer);
          this.#listening.delete(id);
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
        .catch(() => this.#listening.get(id)?.ended());
    });
  }

  #closed(): void {
    this.#questions.close();
    for (const { ended } of [...this.#listening.values()]) ended();
    this.#peer?.onclose?.();
  }
}
