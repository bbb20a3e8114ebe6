/** The handshake by the SDK's client: for HTTP, for servers that need a sign-in, and if the express lane is off. */
import type { Client } from '@modelcontextprotocol/client';
import { isRecord } from '../../json/is-record.js';
import type { Envelope } from '../lanes/lane.js';
import { LEGACY_REVISIONS } from '../protocol/revisions.js';
import { handleServerRequests } from '../server-requests/input-rounds.js';
import type { ServerTransport } from '../transports/server-transport.js';
import { lastHandshakeError, truncateIdentity } from './handshake-limits.js';
import { loadSdk } from './load-sdk.js';
import { type Peer, type PeerOptions, unknownRevision } from './peer.js';

export interface SdkPeerOptions extends PeerOptions {
  readonly serverTransport: ServerTransport;
}

export async function connectSdkPeer(options: SdkPeerOptions): Promise<Peer> {
  const { Client, SdkError, SdkErrorCode } = await loadSdk();
  const { serverTransport, capabilities, era, leftMs, signal } = options;
  const startedAt = performance.now();
  // Over HTTP there is no fallback after a probe without a response: it gets the whole time limit.
  const probeMs = serverTransport.type === 'http' ? leftMs : Math.ceil(leftMs / 2);
  const client = new Client(options.clientInfo, {
    capabilities,
    versionNegotiation: {
      mode: era === 'modern' ? { pin: '2026-07-28' } : 'auto',
      probe: { timeoutMs: probeMs },
    },
    // Results are validated above the lane, one schema at a time; the SDK would compile all of them.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
  });
  handleServerRequests(client, options.requestGuard, options.responders);
  client.onerror = () => {}; // every relevant failure also fails a request or closes the transport
  client.fallbackNotificationHandler = async ({ method, params }) => options.onNotice(method, params ?? {});
  let offered: unknown;
  const request = client.request.bind(client) as (...parts: unknown[]) => Promise<unknown>;
  const noting = async (asked: { readonly method?: unknown }, ...rest: unknown[]): Promise<unknown> => {
    const result = await request(asked, ...rest);
    if (asked.method === 'initialize' && isRecord(result)) offered = result.protocolVersion;
    return result;
  };
  // The SDK rejects an unknown revision with an error that is recognizable only by its text.
  Object.assign(client, { request: noting });
  const prior = era === 'legacy' ? { prior: { kind: 'legacy' as const } } : {};
  try {
    await client.connect(serverTransport.transport, { timeout: leftMs, signal, ...prior });
  } catch (thrown) {
    const fault = lastHandshakeError(serverTransport.transport);
    if (fault !== undefined) throw fault;
    // When restricted to the newer revision, the SDK does not report that it merely timed out.
    const silent =
      thrown instanceof SdkError &&
      thrown.code === SdkErrorCode.EraNegotiationFailed &&
      performance.now() - startedAt >= probeMs;
    if (typeof offered === 'string' && !LEGACY_REVISIONS.includes(offered))
      throw unknownRevision(options.server, offered);
    throw silent ? new SdkError(SdkErrorCode.RequestTimeout, 'The server did not answer') : thrown;
  }
  Object.assign(client, { request });
  return toPeer(client, options);
}

function toPeer(client: Client, { serverTransport, clientInfo, capabilities }: SdkPeerOptions): Peer {
  const era = client.getProtocolEra() ?? 'legacy';
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? 'unknown';
  const envelope: Envelope = {
    'io.modelcontextprotocol/protocolVersion': protocolVersion,
    'io.modelcontextprotocol/clientInfo': { ...clientInfo },
    'io.modelcontextprotocol/clientCapabilities': { ...capabilities },
  };
  const peer: Peer = {
    era,
    protocolVersion,
    ...truncateIdentity({
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities() ?? {},
      instructions: client.getInstructions(),
    }),
    lane: serverTransport.lane(client, era === 'modern' ? envelope : undefined),
    listen: (filter, timeoutMs) => client.listen(filter, { timeout: timeoutMs }),
  };
  client.onclose = () => peer.onclose?.();
  return peer;
}
