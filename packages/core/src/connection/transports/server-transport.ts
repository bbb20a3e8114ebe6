/** What carries the messages of a connection: the transport that the SDK connects over, and the lane on top of it. */
import type { Client, Transport } from '@modelcontextprotocol/client';
import type { Authorizer } from '../../auth/authorizer.js';
import type { HttpServer, SseServer, WebSocketServer } from '../../config/schema/schema.js';
import type { TurnbuckleError } from '../../errors.js';
import { type Channel, ChannelLane } from '../lanes/channel-lane.js';
import type { Envelope, Lane } from '../lanes/lane.js';
import { SdkLane } from '../lanes/sdk-lane.js';
import type { ProcessTable } from '../processes/process-table.js';
import type { StderrListener } from '../processes/stderr-lines.js';
import type { TextRing } from '../processes/text-ring.js';
import type { FloodLimits } from '../protocol/flood-meter.js';
import type { IgnoredMessages } from '../protocol/ignored-messages.js';
import type { SandboxStatus } from '../sandbox/sandbox-status.js';
import { NotificationGate } from '../server-requests/notification-gate.js';
import type { RequestGuard } from '../server-requests/request-guard.js';
import type { UnsentLimits } from './outbox.js';
import type { StdioTransport } from './stdio-transport.js';

export interface ServerTransportOptions {
  readonly server: string;
  /** The agent whose credentials the connection is opened with; absent: those of the server. */
  readonly agent?: string | undefined;
  readonly processes: ProcessTable;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly maxMessageBytes: number;
  /** How deeply the content of a message may be nested. */
  readonly maxDepth: number;
  /** Counts ignored messages. */
  readonly ignored: IgnoredMessages;
  readonly notificationsPerSecond: number;
  readonly flood: FloodLimits;
  readonly unsent: UnsentLimits;
  readonly random?: (() => number) | undefined;
  readonly expressLane: boolean;
  /** Handles requests of the server. */
  readonly requestGuard: RequestGuard;
  readonly stderrListener?: StderrListener | undefined;
  /** Provides the credentials of a remote server. */
  readonly authorizer?:
    | ((server: string, config: HttpServer | SseServer | WebSocketServer) => Promise<Authorizer | undefined>)
    | undefined;
}

export interface EventStream {
  readonly isOpened: boolean;
  /** Called each time it opens, unless the server repeats what it sent meanwhile. */
  onOpened?: () => void;
}

export interface ServerTransport {
  readonly type: 'stdio' | 'http' | 'sse' | 'websocket' | 'in-process';
  readonly transport: Transport;
  /** Each request has its own HTTP headers. */
  readonly hasHeaders: boolean;
  readonly pid?: number | undefined;
  readonly stderr?: TextRing | undefined;
  readonly exit?: StdioTransport['exit'];
  /** The base directory of relative paths in its command, if the configuration does not set one. */
  readonly startedIn?: string | undefined;
  /** The sandbox of its process. */
  readonly sandbox?: SandboxStatus | undefined;
  /** Called when the connection is found broken although no close event came. */
  onBroken?: (error: TurnbuckleError) => void;
  /** The stream for what the server sends by itself, if it is separate and changes get lost while it is not open. */
  readonly eventStream?: EventStream | undefined;
  /** The channel, if the handshake goes over it without the SDK. */
  readonly channel?: ChannelLane | undefined;
  /** Starts what can start before the SDK is loaded. */
  prepare?: () => void;
  /** The lane, once the client has negotiated; the envelope is present in the newer revision. */
  lane(client: Client, envelope: Envelope | undefined): Lane;
  close(): Promise<void>;
}

/** The transport over a bidirectional message channel. */
export function createChannelTransport(
  type: ServerTransport['type'],
  channel: Channel,
  options: ServerTransportOptions,
): ServerTransport {
  const { server, maxMessageBytes: maxBytes } = options;
  const gate = new NotificationGate(options.notificationsPerSecond);
  const { ignored } = options;
  const onDefect = (error: TurnbuckleError): void => serverTransport.onBroken?.(error);
  const lane = new ChannelLane(channel, { server, maxBytes, gate, ignored, onDefect });
  const serverTransport: ServerTransport = {
    type,
    transport: lane,
    hasHeaders: false,
    // A transport that needs the SDK has it loaded anyway.
    channel: options.expressLane && (type === 'stdio' || type === 'websocket') ? lane : undefined,
    lane(client, envelope) {
      lane.envelope = envelope;
      return options.expressLane ? lane : new SdkLane(client, { server });
    },
    close: () => lane.close(),
  };
  return serverTransport;
}
