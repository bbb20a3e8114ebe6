/** Validates messages on transports of the SDK, which parse them themselves. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { TurnbuckleError } from '../../errors.js';
import { HandshakeGuard } from '../handshake/handshake-limits.js';
import type { LargeMessages } from '../handshake/large-messages.js';
import { messageHandlingError } from '../lanes/server-error.js';
import type { IgnoredMessages } from './ignored-messages.js';
import { type MessageRules, readValue } from './message.js';

export interface MessageGuard extends MessageRules {
  readonly ignored: IgnoredMessages;
  /** Handling a message failed: only this connection ends. */
  readonly onDefect: (error: TurnbuckleError) => void;
  /** Holds large messages that were already parsed. */
  readonly largeMessages?: LargeMessages | undefined;
  /** Decides what happens to a message, including the handshake's; absent: the listener gets it. */
  readonly route?: ((message: JSONRPCMessage, listen: NextHandler) => void) | undefined;
}

type MessageHandler = NonNullable<Transport['onmessage']>;
/** Never throws. */
type NextHandler = (message: JSONRPCMessage) => void;

/** From now on, listeners of the transport get only valid messages. */
export function guardMessages(transport: Transport, guard: MessageGuard): void {
  let taken: MessageHandler | undefined = transport.onmessage;
  const handshakes = new HandshakeGuard(guard.server, transport);
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    handshakes.onSend(message);
    return send(message, options);
  };
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => taken,
    set: (take: MessageHandler | undefined) => {
      taken = take && guardHandler(take, guard, handshakes);
    },
  });
}

const routed = new WeakSet<object>();

function guardHandler(take: MessageHandler, guard: MessageGuard, handshakes: HandshakeGuard): MessageHandler {
  const contained = (work: () => void): void => {
    try {
      work();
    } catch (cause) {
      guard.onDefect(messageHandlingError(guard.server, cause));
    }
  };
  return (raw: JSONRPCMessage, extra) => {
    // A listener in between passes it on to the previous one.
    if (routed.has(raw)) return contained(() => take(raw, extra));
    const message = guard.largeMessages?.resolve(raw) ?? readValue(raw, guard);
    if (typeof message === 'string') return guard.ignored.note(message);
    contained(() => {
      const bounded = handshakes.limit(message);
      if (guard.route === undefined) return take(bounded, extra);
      routed.add(bounded);
      // It may be delivered later, by a timer.
      guard.route(bounded, (passed) => contained(() => take(passed, extra)));
    });
  };
}
