import { once } from 'node:events';
import { connect as connectSocket, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { addressClass } from './address-class.js';
import { makePatient } from './patient-socket.js';
import { isWithin } from './reach.js';
import { refused } from './refusal.js';
import type { Target } from './target.js';

/** Opens a socket to one of the target's addresses. */
export type Dial = (target: Target) => Socket;

// The platform's 250 ms give up too early on far servers with more than one address.
const NEXT_ADDRESS_AFTER_MS = 1500;

/** A connector for the HTTP client that knows only the addresses which were checked: no name is resolved again. */
export function pinnedConnector(
  target: Target,
  signal: AbortSignal,
  dial: Dial = dialPinned,
): buildConnector.connector {
  return (_options, callback) => {
    openSocket(target, signal, dial).then(
      (socket) => {
        makePatient(socket);
        callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

async function openSocket(target: Target, signal: AbortSignal, dial: Dial): Promise<Socket> {
  const socket = dial(target);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop);
  socket.once('close', () => signal.removeEventListener('abort', stop));
  // Somebody always listens: an error between two listeners would end the process.
  socket.on('error', () => {});
  try {
    await once(socket, 'connect', { signal });
    checkPeer(target, socket);
    return target.url.protocol === 'https:' ? await secure(target, socket, signal) : socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Nothing was sent yet: the last look at where the socket really leads. */
function checkPeer({ url, reach }: Target, socket: Socket): void {
  if (socket.remoteAddress === undefined) throw new Error('The connection was closed at once.');
  const found = addressClass(socket.remoteAddress);
  if (isWithin(reach, found)) return;
  throw refused({ url, reason: 'address', because: `the connection led to an address that is ${found}` });
}

async function secure(target: Target, socket: Socket, signal: AbortSignal): Promise<Socket> {
  const name = target.hostname.replace(/\.$/, '');
  const secured = connectTls({
    socket,
    host: name,
    servername: isIP(name) === 0 ? name : '',
    ALPNProtocols: ['http/1.1'],
  });
  secured.on('error', () => {});
  await once(secured, 'secureConnect', { signal });
  return secured;
}

function dialPinned({ hostname, port, addresses }: Target): Socket {
  const lookup: LookupFunction = (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
  return connectSocket({
    host: hostname,
    port,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
  });
}
