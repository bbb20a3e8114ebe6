/** The check of messages for transports of the SDK, which read them themselves. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { TurnbuckleError } from '../errors.js';
import { Handshakes } from './handshake.js';
import type { IgnoredMessages } from './ignored-messages.js';
import { type MessageRules, readValue } from './message.js';
import { messageDefect } from './server-error.js';
import type { StandIns } from './stand-ins.js';

export interface MessageGuard extends MessageRules {
  readonly ignored: IgnoredMessages;
  /** Whoever takes a message failed over it: the connection ends, and nothing else. */
  readonly onDefect: (error: TurnbuckleError) => void;
  /** What large messages were read to. */
  readonly standIns?: StandIns | undefined;
}

type Take = NonNullable<Transport['onmessage']>;

/** Whoever listens to the transport from now on gets messages in the right shape only. */
export function guardMessages(transport: Transport, guard: MessageGuard): void {
  let taken: Take | undefined = transport.onmessage;
  const handshakes = new Handshakes(guard.server, transport);
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    handshakes.sent(message);
    return send(message, options);
  };
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => taken,
    set: (take: Take | undefined) => {
      taken = take && guarded(take, guard, handshakes);
    },
  });
}

function guarded(take: Take, guard: MessageGuard, handshakes: Handshakes): Take {
  return (raw: JSONRPCMessage, extra) => {
    const message = guard.standIns?.take(raw) ?? readValue(raw, guard);
    if (typeof message === 'string') return guard.ignored.note(message);
    try {
      take(handshakes.bounded(message), extra);
    } catch (cause) {
      guard.onDefect(messageDefect(guard.server, cause));
    }
  };
}
