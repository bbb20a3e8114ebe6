/**
 * An open link to a server: negotiated, identified, with the lane for its requests. `openLink` does what it
 * takes to get one (asking for the era, falling back to the older transport) inside one time limit.
 */
import type { Implementation } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/schema.js';
import { TurnbuckleError } from '../errors.js';
import type { Carrier, CarrierOptions } from './carrier.js';
import { connectChannelPeer } from './channel-peer.js';
import { createCarrier } from './create-carrier.js';
import type { Era, EraVerdicts } from './era-verdicts.js';
import { explainExit } from './exit.js';
import type { Lane } from './lane.js';
import type { Peer, PeerOptions } from './peer.js';
import type { Respondents } from './respondents.js';
import { connectSdkPeer } from './sdk-peer.js';
import { timedOut, translate } from './translate.js';

export interface LinkOptions extends CarrierOptions {
  readonly config: ServerConfig;
  readonly clientInfo: Implementation;
  readonly verdicts: EraVerdicts;
  readonly respondents: Respondents;
  /** The question for the era got no answer last time: go without it. */
  readonly assumeLegacy: boolean;
  /** The server has been started or asked: what is wanted once it answers can be loaded meanwhile. */
  readonly onStarting: () => void;
  /** A failed attempt is being cleaned up; the next one has to wait for it. */
  readonly onCleanup: (done: Promise<void>) => void;
  /** A notification of the server: its method and params, untrusted. */
  readonly onNotice: (method: string, params: Readonly<Record<string, unknown>>) => void;
}

export interface Link {
  readonly peer: Peer;
  readonly carrier: Carrier;
  /** Of the peer, at hand for the hot path. */
  readonly lane: Lane;
  readonly era: Era;
  close(): Promise<void>;
}

/** Resolves with a negotiated link or rejects with a TurnbuckleError; nothing is left running then. */
export async function openLink(options: LinkOptions, signal: AbortSignal): Promise<Link> {
  const { config, server } = options;
  const timeoutMs = config.connectTimeoutMs;
  const deadline = Date.now() + timeoutMs;
  // A remembered newer server is asked all the same: that costs one message, and brings its capabilities.
  const remembered = config.era === 'auto' ? await options.verdicts.get(config) : config.era;
  const asked = config.era === 'auto' && remembered === 'modern' ? undefined : remembered;
  const known = asked ?? (options.assumeLegacy ? 'legacy' : undefined);
  let cleanup = Promise.resolve();
  const track = (done: Promise<void>): void => {
    cleanup = done;
    options.onCleanup(done);
  };
  const attempt = (target: ServerConfig, era: Era | undefined): Promise<Link> =>
    connectOnce(
      { ...options, config: target, onCleanup: track },
      { era, leftMs: Math.max(deadline - Date.now(), 1), signal },
    );
  let way: Way = { target: config, era: known, isMemory: config.era === 'auto' && known === 'legacy' };
  let telling: unknown;
  for (;;) {
    try {
      return await attempt(way.target, way.era);
    } catch (thrown) {
      // What the configured transport said is the more telling error.
      if (way.target === config) telling = thrown;
      const next = signal.aborted ? undefined : otherWay(config, way, thrown);
      if (next === undefined)
        throw await translate(telling, { server, step: 'connect', timeoutMs, address: originOf(config) });
      if (way.isMemory) await options.verdicts.forget(config);
      await cleanup;
      way = next;
    }
  }
}

/** Without its path and query, which may hold a credential. */
function originOf(config: ServerConfig): string | undefined {
  const address = 'url' in config ? config.url : 'baseUrl' in config ? config.baseUrl : undefined;
  return address === undefined || !URL.canParse(address) ? undefined : new URL(address).origin;
}

/** A transport and an era to try; `undefined` asks the server for its era. */
interface Way {
  readonly target: ServerConfig;
  readonly era: Era | undefined;
  /** The era is what was remembered of the server, and may have become wrong. */
  readonly isMemory: boolean;
}

/** Statuses by which servers refuse a request that they do not understand. */
const NOT_UNDERSTOOD = [400, 404, 405, 406, 415];

/** The other way to try after a failure, if its kind says that there is one. Each step is taken only once. */
function otherWay(config: ServerConfig, tried: Way, thrown: unknown): Way | undefined {
  // Who asks without a sign-in, or with a bad one, learns nothing about the protocol.
  if (tried.target !== config || isAboutSignIn(thrown)) return undefined;
  const status = statusOf(thrown);
  const isRefused = status !== undefined && NOT_UNDERSTOOD.includes(status);
  const code = codeOf(thrown);
  // The server speaks, but not what we remembered: ask anew.
  const isAnswer = isRefused || typeof code === 'number' || code === 'SERVER_ERROR';
  if (tried.isMemory) return isAnswer ? { target: config, era: undefined, isMemory: false } : undefined;
  if (config.type === 'http' && isRefused)
    return { target: { ...config, type: 'sse' }, era: 'legacy', isMemory: false };
  // Some older servers end at any request before `initialize`: start again without asking.
  if (config.era === 'auto' && tried.era === undefined && code === PROBE_FAILED)
    return { target: config, era: 'legacy', isMemory: false };
  return undefined;
}

const PROBE_FAILED = 'ERA_NEGOTIATION_FAILED';

const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;

function isAboutSignIn(thrown: unknown): boolean {
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof TurnbuckleError)
      return ['AUTH_REQUIRED', 'AUTH_FAILED', 'SCOPE_MISSING'].includes(error.code);
  }
  return false;
}

function statusOf(thrown: unknown): number | undefined {
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    if ('status' in error && typeof error.status === 'number') return error.status;
  }
  return undefined;
}

interface Attempt {
  readonly era: Era | undefined;
  readonly leftMs: number;
  readonly signal: AbortSignal;
}

async function connectOnce(options: LinkOptions, { era, leftMs, signal }: Attempt): Promise<Link> {
  const carrier = await createCarrier(options.config, options);
  const { server, clientInfo, requests, respondents, onNotice } = options;
  const { capabilities } = requests;
  const { connectTimeoutMs } = options.config;
  const time = { leftMs, connectTimeoutMs, signal };
  const shared = { server, clientInfo, capabilities, requests, respondents, onNotice, era, ...time };
  try {
    if (signal.aborted) throw signal.reason;
    carrier.prepare?.();
    const { channel } = carrier;
    const connecting =
      channel === undefined
        ? connectSdkPeer({ ...shared, carrier })
        : connectChannelPeer({ ...shared, lane: channel });
    options.onStarting();
    const peer = await withDeadline(connecting, { ...time, server });
    // What lives in this process needs no memory.
    if (options.config.type !== 'in-process') await options.verdicts.set(options.config, peer.era);
    return { peer, carrier, lane: peer.lane, era: peer.era, close: () => carrier.close() };
  } catch (error) {
    const explained = await explainExit(server, carrier, error);
    options.onCleanup(carrier.close().catch(() => {}));
    // An ended probe has another way out than an ended handshake: the code that tells them apart stays on top.
    throw codeOf(error) === PROBE_FAILED && explained !== error
      ? Object.assign(new Error('The server ended during the probe', { cause: explained }), {
          code: PROBE_FAILED,
        })
      : explained;
  }
}

async function withDeadline<T>(
  work: Promise<T>,
  {
    leftMs,
    connectTimeoutMs,
    signal,
    server,
  }: Pick<PeerOptions, 'leftMs' | 'connectTimeoutMs' | 'signal' | 'server'>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(timedOut({ server, step: 'connect', timeoutMs: connectTimeoutMs }, undefined)),
      leftMs,
    );
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
