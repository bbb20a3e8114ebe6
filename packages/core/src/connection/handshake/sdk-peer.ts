/** The handshake by the SDK's client: for HTTP, for what needs a sign-in, and where the express lane is off. */
import type { Client } from '@modelcontextprotocol/client';
import { isRecord } from '../is-record.js';
import type { Carrier } from './carrier.js';
import { boundIdentity, lastHandshakeFault } from './handshake.js';
import { serveRequests } from './input-rounds.js';
import type { Envelope } from './lane.js';
import { OLDER_REVISIONS, type Peer, type PeerOptions, unknownRevision } from './peer.js';
import { loadSdk } from './sdk.js';

export interface SdkPeerOptions extends PeerOptions {
  readonly carrier: Carrier;
}

export async function connectSdkPeer(options: SdkPeerOptions): Promise<Peer> {
  const { Client, SdkError, SdkErrorCode } = await loadSdk();
  const { carrier, capabilities, era, leftMs, signal } = options;
  const startedAt = Date.now();
  // Over HTTP nothing else is tried after a question without an answer: it has all the time there is.
  const probeMs = carrier.type === 'http' ? leftMs : Math.ceil(leftMs / 2);
  const client = new Client(options.clientInfo, {
    capabilities,
    versionNegotiation: {
      mode: era === 'modern' ? { pin: '2026-07-28' } : 'auto',
      probe: { timeoutMs: probeMs },
    },
    // Results are checked above the lane, one schema at a time; the SDK would compile all of them.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
  });
  serveRequests(client, options.requests, options.respondents);
  client.onerror = () => {}; // every failure that matters also fails a request or closes the transport
  client.fallbackNotificationHandler = async ({ method, params }) => options.onNotice(method, params ?? {});
  let offered: unknown;
  const request = client.request.bind(client) as (...parts: unknown[]) => Promise<unknown>;
  const noting = async (asked: { readonly method?: unknown }, ...rest: unknown[]): Promise<unknown> => {
    const result = await request(asked, ...rest);
    if (asked.method === 'initialize' && isRecord(result)) offered = result.protocolVersion;
    return result;
  };
  // The SDK refuses a revision that it does not know with an error that says so in its text only.
  Object.assign(client, { request: noting });
  const prior = era === 'legacy' ? { prior: { kind: 'legacy' as const } } : {};
  try {
    await client.connect(carrier.transport, { timeout: leftMs, signal, ...prior });
  } catch (thrown) {
    const fault = lastHandshakeFault(carrier.transport);
    if (fault !== undefined) throw fault;
    // Told to speak the newer revision only, the SDK does not say that it merely waited in vain.
    const silent =
      thrown instanceof SdkError &&
      thrown.code === SdkErrorCode.EraNegotiationFailed &&
      Date.now() - startedAt >= probeMs;
    if (typeof offered === 'string' && !OLDER_REVISIONS.includes(offered))
      throw unknownRevision(options.server, offered);
    throw silent ? new SdkError(SdkErrorCode.RequestTimeout, 'The server did not answer') : thrown;
  }
  Object.assign(client, { request });
  return toPeer(client, options);
}

function toPeer(client: Client, { carrier, clientInfo, capabilities }: SdkPeerOptions): Peer {
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
    ...boundIdentity({
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities() ?? {},
      instructions: client.getInstructions(),
    }),
    lane: carrier.lane(client, era === 'modern' ? envelope : undefined),
    listen: (filter, timeoutMs) => client.listen(filter, { timeout: timeoutMs }),
  };
  client.onclose = () => peer.onclose?.();
  return peer;
}
