/**
 * An open link to a server: negotiated, identified, with the lane for its requests. `openLink` does everything to get
 * one (probing for the era, falling back to the older transport) within one time limit.
 */
import type { Implementation } from '@modelcontextprotocol/client';
import { abortReason, untilAborted } from '../async/until-aborted.js';
import type { ServerConfig } from '../config/schema/schema.js';
import { TurnbuckleError } from '../errors.js';
import { connectChannelPeer } from './handshake/channel-peer.js';
import type { Era, EraVerdicts } from './handshake/era-verdicts.js';
import type { Peer, PeerOptions } from './handshake/peer.js';
import { connectSdkPeer } from './handshake/sdk-peer.js';
import type { Lane } from './lanes/lane.js';
import { type LinkTelemetry, linkAttributes, ObservedLane, recordSession } from './lanes/observed-lane.js';
import { timeoutError, translateError } from './lanes/translate-error.js';
import { explainExit } from './processes/exit-error.js';
import type { ClientResponders } from './server-requests/client-responders.js';
import { createTransport } from './transports/create-transport.js';
import type { ServerTransport, ServerTransportOptions } from './transports/server-transport.js';

export interface LinkOptions extends ServerTransportOptions {
  readonly config: ServerConfig;
  readonly clientInfo: Implementation;
  readonly verdicts: EraVerdicts;
  readonly responders: ClientResponders;
  /** The probe for the era got no response last time: skip it. */
  readonly assumeLegacy: boolean;
  /** The server was started or contacted: modules needed after its response can be loaded meanwhile. */
  readonly onStarting: () => void;
  /** A failed attempt is being cleaned up; the next one has to wait for it. */
  readonly onCleanup: (done: Promise<void>) => void;
  /** A notification of the server: its method and params, untrusted. */
  readonly onNotice: (method: string, params: Readonly<Record<string, unknown>>) => void;
  /** Observes its requests and its session. */
  readonly telemetry?: LinkTelemetry | undefined;
}

export interface Link {
  readonly peer: Peer;
  readonly serverTransport: ServerTransport;
  /** Copied from the peer for the hot path. */
  readonly lane: Lane;
  readonly era: Era;
  /** The error is the reason, if it broke. */
  close(error?: TurnbuckleError): Promise<void>;
}

/** Resolves with a negotiated link or rejects with a TurnbuckleError; nothing is left running then. */
export async function openLink(options: LinkOptions, signal: AbortSignal): Promise<Link> {
  const { config, server } = options;
  const timeoutMs = config.connectTimeoutMs;
  const deadline = performance.now() + timeoutMs;
  // A server known to be newer is probed anyway: that costs one message, and returns its capabilities.
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
      { era, leftMs: Math.max(deadline - performance.now(), 1), signal },
    );
  let way: ConnectionAttempt = {
    target: config,
    era: known,
    isRemembered: config.era === 'auto' && known === 'legacy',
  };
  let telling: unknown;
  for (;;) {
    try {
      return await attempt(way.target, way.era);
    } catch (thrown) {
      // The error of the configured transport is the more useful one.
      if (way.target === config) telling = thrown;
      const next = signal.aborted ? undefined : nextAttempt(config, way, thrown);
      if (next === undefined)
        throw await translateError(telling, {
          server,
          step: 'connect',
          timeoutMs,
          address: originOf(config),
        });
      if (way.isRemembered) await options.verdicts.forget(config);
      await cleanup;
      way = next;
    }
  }
}

/** Without path and query, which may contain a credential. */
function originOf(config: ServerConfig): string | undefined {
  const address = 'url' in config ? config.url : 'baseUrl' in config ? config.baseUrl : undefined;
  return address === undefined || !URL.canParse(address) ? undefined : new URL(address).origin;
}

/** A transport and an era to try; `undefined` probes for the era. */
interface ConnectionAttempt {
  readonly target: ServerConfig;
  readonly era: Era | undefined;
  /** The era comes from the stored verdict, which may be outdated. */
  readonly isRemembered: boolean;
}

/** Statuses by which servers reject a request that they do not understand. */
const NOT_UNDERSTOOD_STATUSES = [400, 404, 405, 406, 415];

/** The next attempt after a failure, if this kind of failure has one. Each fallback is used only once. */
function nextAttempt(
  config: ServerConfig,
  tried: ConnectionAttempt,
  thrown: unknown,
): ConnectionAttempt | undefined {
  // Without a valid sign-in, the response says nothing about the protocol.
  if (tried.target !== config || isAuthError(thrown)) return undefined;
  const status = statusOf(thrown);
  const isRefused = status !== undefined && NOT_UNDERSTOOD_STATUSES.includes(status);
  const code = codeOf(thrown);
  // The server responds, but not in the remembered era: probe again.
  const isAnswer = isRefused || typeof code === 'number' || code === 'SERVER_ERROR';
  if (tried.isRemembered)
    return isAnswer ? { target: config, era: undefined, isRemembered: false } : undefined;
  if (config.type === 'http' && isRefused)
    return { target: { ...config, type: 'sse' }, era: 'legacy', isRemembered: false };
  // Some older servers exit at any request before `initialize`: start again without the probe.
  if (config.era === 'auto' && tried.era === undefined && code === PROBE_FAILED)
    return { target: config, era: 'legacy', isRemembered: false };
  return undefined;
}

const PROBE_FAILED = 'ERA_NEGOTIATION_FAILED';

const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;

function isAuthError(thrown: unknown): boolean {
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

interface ConnectOnceOptions {
  readonly era: Era | undefined;
  readonly leftMs: number;
  readonly signal: AbortSignal;
}

async function connectOnce(options: LinkOptions, { era, leftMs, signal }: ConnectOnceOptions): Promise<Link> {
  const serverTransport = await createTransport(options.config, options);
  const { server, clientInfo, requestGuard, responders, onNotice } = options;
  const { capabilities } = requestGuard;
  const { connectTimeoutMs } = options.config;
  const time = { leftMs, connectTimeoutMs, signal };
  const shared = { server, clientInfo, capabilities, requestGuard, responders, onNotice, era, ...time };
  try {
    if (signal.aborted) throw signal.reason;
    serverTransport.prepare?.();
    const { channel } = serverTransport;
    const connecting =
      channel === undefined
        ? connectSdkPeer({ ...shared, serverTransport })
        : connectChannelPeer({ ...shared, lane: channel });
    options.onStarting();
    const peer = await withDeadline(connecting, { ...time, server });
    // A server in this process needs no verdict.
    if (options.config.type !== 'in-process') await options.verdicts.set(options.config, peer.era);
    const link = { peer, serverTransport, lane: peer.lane, era: peer.era };
    return options.telemetry === undefined
      ? { ...link, close: () => serverTransport.close() }
      : observeLink(link, options, options.telemetry);
  } catch (error) {
    const explained = await explainExit(server, serverTransport, error);
    options.onCleanup(serverTransport.close().catch(() => {}));
    // A failed probe is handled differently from a failed handshake: keep the code that distinguishes them.
    throw codeOf(error) === PROBE_FAILED && explained !== error
      ? Object.assign(new Error('The server exited during the probe', { cause: explained }), {
          code: PROBE_FAILED,
        })
      : explained;
  }
}

/** Reports its requests, and its duration once it is closed. */
function observeLink(
  link: Omit<Link, 'close'>,
  { server, config }: LinkOptions,
  { telemetry, redact }: LinkTelemetry,
): Link {
  const { peer, serverTransport, lane, era } = link;
  const { type: transport } = serverTransport;
  const { protocolVersion } = peer;
  const attributes = linkAttributes(
    { server, transport, address: originOf(config), protocolVersion },
    redact,
  );
  const opened = performance.now();
  // Over HTTP, the newer revision has no sessions.
  let isSession = era === 'legacy' || !serverTransport.hasHeaders;
  const sessionId = (): string | undefined => serverTransport.transport.sessionId;
  return {
    ...link,
    lane: new ObservedLane(lane, { telemetry, redact, attributes, sessionId }),
    close: (error) => {
      if (isSession) {
        isSession = false;
        recordSession(telemetry, (performance.now() - opened) / 1_000, {
          ...attributes,
          'error.type': error?.code,
        });
      }
      return serverTransport.close();
    },
  };
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
  work.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(timeoutError({ server, step: 'connect', timeoutMs: connectTimeoutMs }, undefined)),
      leftMs,
    );
  });
  try {
    return await untilAborted(() => Promise.race([work, late]), signal, abortReason);
  } finally {
    clearTimeout(timer);
  }
}
