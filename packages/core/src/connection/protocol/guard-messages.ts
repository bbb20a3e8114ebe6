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
  /** Decides what becomes of a message, the handshake's included; absent: whoever listens gets it. */
  readonly route?: ((message: JSONRPCMessage, listen: Listen) => void) | undefined;
}

type Take = NonNullable<Transport['onmessage']>;
/** Never throws, whenever it is called. */
type Listen = (message: JSONRPCMessage) => void;

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

const routed = new WeakSet<object>();

function guarded(take: Take, guard: MessageGuard, handshakes: Handshakes): Take {
  const contained = (work: () => void): void => {
    try {
      work();
    } catch (cause) {
      guard.onDefect(messageDefect(guard.server, cause));
    }
  };
  return (raw: JSONRPCMessage, extra) => {
    // Who listens in between passes it on to whom was listening before.
    if (routed.has(raw)) return contained(() => take(raw, extra));
    const message = guard.standIns?.take(raw) ?? readValue(raw, guard);
    if (typeof message === 'string') return guard.ignored.note(message);
    contained(() => {
      const bounded = handshakes.bounded(message);
      if (guard.route === undefined) return take(bounded, extra);
      routed.add(bounded);
      // It may be handed on later, by a timer.
      guard.route(bounded, (passed) => contained(() => take(passed, extra)));
    });
  };
}
