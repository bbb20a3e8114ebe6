/**
 * Limits what a server may report about itself. A handshake response is a few lines; every reader, including the SDK,
 * takes time for each of its values, and the stored part is processed whenever the status is requested.
 */
import type {
  Implementation,
  JSONRPCMessage,
  ServerCapabilities,
  Transport,
} from '@modelcontextprotocol/client';
import { SERVER_BUG_HINT, TurnbuckleError } from '../../errors.js';
import { wideMemberCount } from '../../json/wide-objects.js';
import { localErrorOf, toRpcError } from '../lanes/server-error.js';

const MAX_HANDSHAKE_CHARACTERS = 1_024 * 1_024;
const MAX_HANDSHAKE_PARTS = 20_000;
const MAX_INSTRUCTIONS_LENGTH = 64 * 1_024;
const MAX_NAME_LENGTH = 256;
const ELLIPSIS = '…';

export interface ServerIdentity {
  readonly serverInfo: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** The same, with overlong texts truncated. */
export function truncateIdentity({ serverInfo, capabilities, instructions }: ServerIdentity): ServerIdentity {
  return {
    serverInfo: serverInfo && {
      ...serverInfo,
      name: truncate(serverInfo.name, MAX_NAME_LENGTH),
      version: truncate(serverInfo.version, MAX_NAME_LENGTH),
    },
    capabilities,
    instructions: instructions && truncate(instructions, MAX_INSTRUCTIONS_LENGTH),
  };
}

/** A copy: a slice of a string keeps the whole string in memory. */
const truncate = (text: string, max: number): string =>
  text.length <= max ? text : Buffer.from(text.slice(0, max - 1) + ELLIPSIS).toString();

/** Why a handshake response is rejected; undefined if it is within the limits. */
export function checkHandshakeSize(server: string, answer: unknown): TurnbuckleError | undefined {
  const counted = { parts: 0, characters: 0 };
  measure(answer, counted);
  if (!exceedsLimits(counted)) return undefined;
  const what =
    counted.parts > MAX_HANDSHAKE_PARTS
      ? `${MAX_HANDSHAKE_PARTS} values`
      : `${MAX_HANDSHAKE_CHARACTERS} characters`;
  return new TurnbuckleError(
    'RESPONSE_TOO_LARGE',
    `The handshake response from server "${server}" has more than ${what}.`,
    {
      server,
      hint: `A handshake response normally has only a few lines. ${SERVER_BUG_HINT}`,
    },
  );
}

interface HandshakeSize {
  parts: number;
  characters: number;
}

const exceedsLimits = ({ parts, characters }: HandshakeSize): boolean =>
  parts > MAX_HANDSHAKE_PARTS || characters > MAX_HANDSHAKE_CHARACTERS;

/** Stops at the limit; values that are nested too deeply never get here. */
function measure(value: unknown, counted: HandshakeSize): void {
  counted.parts += 1;
  if (typeof value === 'string') counted.characters += value.length;
  if (typeof value !== 'object' || value === null) return;
  const width = Array.isArray(value) ? value.length : (wideMemberCount(value) ?? 0);
  // Even listing that many takes long.
  if (width > MAX_HANDSHAKE_PARTS) counted.parts += width;
  if (exceedsLimits(counted)) return;
  for (const key in value) {
    if (!Array.isArray(value)) counted.characters += key.length;
    measure(Reflect.get(value, key), counted);
    if (exceedsLimits(counted)) return;
  }
}

const HANDSHAKE_METHODS = new Set(['initialize', 'server/discover']);
const handshakeErrors = new WeakMap<Transport, TurnbuckleError>();

/** Why the last handshake over the transport was rejected: the SDK does not always pass the reason on. */
export const lastHandshakeError = (transport: Transport): TurnbuckleError | undefined =>
  handshakeErrors.get(transport);

/** For handshakes of the SDK: passes it a response within the limits, or an error that explains why there is none. */
export class HandshakeGuard {
  readonly #server: string;
  readonly #transport: Transport;
  readonly #pendingIds = new Set<unknown>();

  constructor(server: string, transport: Transport) {
    this.#server = server;
    this.#transport = transport;
  }

  onSend(message: JSONRPCMessage | readonly JSONRPCMessage[]): void {
    if ('method' in message && 'id' in message && HANDSHAKE_METHODS.has(message.method))
      this.#pendingIds.add(message.id);
  }

  limit(message: JSONRPCMessage): JSONRPCMessage {
    if (this.#pendingIds.size === 0 || 'method' in message || !this.#pendingIds.delete(message.id))
      return message;
    // What could not be parsed was rejected before.
    const read = 'error' in message ? localErrorOf(message.error) : undefined;
    const fault = read ?? checkHandshakeSize(this.#server, message);
    if (fault === undefined || message.id === undefined) return message;
    handshakeErrors.set(this.#transport, fault);
    if (read !== undefined) return message;
    return { jsonrpc: '2.0', id: message.id, error: toRpcError(fault) };
  }
}
