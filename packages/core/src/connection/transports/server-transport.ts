/** What carries the messages of a connection: the transport that the SDK connects over, and the lane that rides on it. */
import type { Client, Transport } from '@modelcontextprotocol/client';
import type { Authorizer } from '../auth/authorizer.js';
import type { HttpServer, SseServer, WebSocketServer } from '../config/schema.js';
import type { TurnbuckleError } from '../errors.js';
import { type Channel, ChannelLane } from './channel-lane.js';
import type { FloodLimits } from './flood-meter.js';
import type { IgnoredMessages } from './ignored-messages.js';
import type { Envelope, Lane } from './lane.js';
import { NotificationGate } from './notification-gate.js';
import type { UnsentLimits } from './outbox.js';
import type { ProcessTable } from './processes.js';
import type { RequestGuard } from './request-guard.js';
import type { SandboxStatus } from './sandbox/status.js';
import { SdkLane } from './sdk-lane.js';
import type { StderrListener } from './stderr-lines.js';
import type { StdioTransport } from './stdio.js';
import type { TextRing } from './text-ring.js';

export interface CarrierOptions {
  readonly server: string;
  readonly processes: ProcessTable;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly maxMessageBytes: number;
  /** How deep what a message says may be nested. */
  readonly maxDepth: number;
  /** What the server says in vain is counted there. */
  readonly ignored: IgnoredMessages;
  readonly notificationsPerSecond: number;
  readonly flood: FloodLimits;
  readonly unsent: UnsentLimits;
  readonly random?: (() => number) | undefined;
  readonly expressLane: boolean;
  /** What the server asks goes through it. */
  readonly requests: RequestGuard;
  readonly stderrListener?: StderrListener | undefined;
  /** What presents the credentials of a remote server. */
  readonly authorizer?:
    | ((server: string, config: HttpServer | SseServer | WebSocketServer) => Promise<Authorizer | undefined>)
    | undefined;
}

export interface Carrier {
  readonly type: 'stdio' | 'http' | 'sse' | 'websocket' | 'in-process';
  readonly transport: Transport;
  /** Each request has HTTP headers of its own. */
  readonly hasHeaders: boolean;
  readonly pid?: number | undefined;
  readonly stderr?: TextRing | undefined;
  readonly exit?: StdioTransport['exit'];
  /** The directory that relative paths of its command meant, where no configuration says which. */
  readonly startedIn?: string | undefined;
  /** The sandbox that its process is in. */
  readonly sandbox?: SandboxStatus | undefined;
  /** Told when the connection is found broken although no close came. */
  onBroken?: (error: TurnbuckleError) => void;
  /** The channel, where the handshake goes over it without the SDK. */
  readonly channel?: ChannelLane | undefined;
  /** Begins what can begin before the SDK is loaded. */
  prepare?: () => void;
  /** The lane, once the client has negotiated; the envelope is present in the newer revision. */
  lane(client: Client, envelope: Envelope | undefined): Lane;
  close(): Promise<void>;
}

/** The carrier over a channel of messages in both directions. */
export function channelCarrier(type: Carrier['type'], channel: Channel, options: CarrierOptions): Carrier {
  const { server, maxMessageBytes: maxBytes } = options;
  const gate = new NotificationGate(options.notificationsPerSecond);
  const { ignored } = options;
  const onDefect = (error: TurnbuckleError): void => carrier.onBroken?.(error);
  const lane = new ChannelLane(channel, { server, maxBytes, gate, ignored, onDefect });
  const carrier: Carrier = {
    type,
    transport: lane,
    hasHeaders: false,
    // What needs the SDK for its transport has it loaded anyway.
    channel: options.expressLane && (type === 'stdio' || type === 'websocket') ? lane : undefined,
    lane(client, envelope) {
      lane.envelope = envelope;
      return options.expressLane ? lane : new SdkLane(client, { server });
    },
    close: () => lane.close(),
  };
  return carrier;
}
