import { once } from 'node:events';
import { connect as connectSocket, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { addressClass } from './address-class.js';
import { deferSocketEnd } from './defer-socket-end.js';
import { fetchRefused } from './fetch-refused.js';
import { isInScope } from './network-scope.js';
import type { Target } from './target.js';

/** Opens a socket to one of the target's addresses. */
export type Dial = (target: Target) => Socket;

// The platform's 250 ms give up too early on distant servers with more than one address.
const NEXT_ADDRESS_AFTER_MS = 1500;

/** A connector for the HTTP client that uses only the checked addresses: no name is resolved again. */
export function pinnedConnector(
  target: Target,
  signal: AbortSignal,
  dial: Dial = dialPinned,
): buildConnector.connector {
  return (_options, callback) => {
    openSocket(target, signal, dial).then(
      (socket) => {
        deferSocketEnd(socket);
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
  // Always keep a listener: an error between two listeners would crash the process.
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

/** The last check of the socket's real address, before anything is sent. */
function checkPeer({ url, scope }: Target, socket: Socket): void {
  if (socket.remoteAddress === undefined) throw new Error('The connection was closed immediately.');
  const found = addressClass(socket.remoteAddress);
  if (isInScope(scope, found)) return;
  throw fetchRefused({
    url,
    reason: 'address',
    because: `the connection was made to a disallowed address (${found})`,
  });
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
