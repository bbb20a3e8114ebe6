/**
 * What a server may say about itself. A handshake is some lines; whoever reads it, the SDK among them, takes time for
 * each of its parts, and what is kept of it is looked through whenever somebody asks how the server is.
 */
import type {
  Implementation,
  JSONRPCMessage,
  ServerCapabilities,
  Transport,
} from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import { wideMembers } from '../json/wide-objects.js';
import { ownFailure, toAnswer } from './server-error.js';

const MAX_CHARACTERS = 1_024 * 1_024;
const MAX_PARTS = 20_000;
const MAX_INSTRUCTIONS = 64 * 1_024;
const MAX_NAME = 256;
const CUT = '…';

export interface Identity {
  readonly serverInfo: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** The same, without the rest of what is far too long. */
export function boundIdentity({ serverInfo, capabilities, instructions }: Identity): Identity {
  return {
    serverInfo: serverInfo && {
      ...serverInfo,
      name: cut(serverInfo.name, MAX_NAME),
      version: cut(serverInfo.version, MAX_NAME),
    },
    capabilities,
    instructions: instructions && cut(instructions, MAX_INSTRUCTIONS),
  };
}

/** As a text of its own: a part of a text holds the whole. */
const cut = (text: string, max: number): string =>
  text.length <= max ? text : Buffer.from(text.slice(0, max - 1) + CUT).toString();

/** Why nothing is made of the answer to a handshake; undefined for one that is as it should be. */
export function handshakeFault(server: string, answer: unknown): TurnbuckleError | undefined {
  const counted = { parts: 0, characters: 0 };
  count(answer, counted);
  if (!isOver(counted)) return undefined;
  const what = counted.parts > MAX_PARTS ? `${MAX_PARTS} parts` : `${MAX_CHARACTERS} characters`;
  return new TurnbuckleError(
    'RESPONSE_TOO_LARGE',
    `Server "${server}" answered the handshake with more than ${what}.`,
    { server, hint: 'Nothing of it is used. This is a defect of the server: a handshake has some lines.' },
  );
}

interface Counted {
  parts: number;
  characters: number;
}

const isOver = ({ parts, characters }: Counted): boolean => parts > MAX_PARTS || characters > MAX_CHARACTERS;

/** Looks no further than to the limit; what is nested too deep never comes here. */
function count(value: unknown, counted: Counted): void {
  counted.parts += 1;
  if (typeof value === 'string') counted.characters += value.length;
  if (typeof value !== 'object' || value === null) return;
  const width = Array.isArray(value) ? value.length : (wideMembers(value) ?? 0);
  // Even to list so many takes long.
  if (width > MAX_PARTS) counted.parts += width;
  if (isOver(counted)) return;
  for (const key in value) {
    if (!Array.isArray(value)) counted.characters += key.length;
    count(Reflect.get(value, key), counted);
    if (isOver(counted)) return;
  }
}

const METHODS = new Set(['initialize', 'server/discover']);
const faults = new WeakMap<Transport, TurnbuckleError>();

/** Why the last handshake over the transport was refused: the SDK does not always pass on what it was answered. */
export const lastHandshakeFault = (transport: Transport): TurnbuckleError | undefined =>
  faults.get(transport);

/** Handshakes that the SDK makes: it gets an answer in bounds, or one that says why there is none. */
export class Handshakes {
  readonly #server: string;
  readonly #transport: Transport;
  readonly #asked = new Set<unknown>();

  constructor(server: string, transport: Transport) {
    this.#server = server;
    this.#transport = transport;
  }

  sent(message: JSONRPCMessage | readonly JSONRPCMessage[]): void {
    if ('method' in message && 'id' in message && METHODS.has(message.method)) this.#asked.add(message.id);
  }

  bounded(message: JSONRPCMessage): JSONRPCMessage {
    if (this.#asked.size === 0 || 'method' in message || !this.#asked.delete(message.id)) return message;
    // What could not be read at all was refused before.
    const read = 'error' in message ? ownFailure(message.error) : undefined;
    const fault = read ?? handshakeFault(this.#server, message);
    if (fault === undefined || message.id === undefined) return message;
    faults.set(this.#transport, fault);
    if (read !== undefined) return message;
    return { jsonrpc: '2.0', id: message.id, error: toAnswer(fault) };
  }
}
