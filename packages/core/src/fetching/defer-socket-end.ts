/**
 * Sockets that delay their end until undici resumes. If a socket ends, resets or closes while the parser is paused,
 * undici 7 throws from an event (nodejs/undici#5360), which crashes the process: a server could choose that moment.
 * The calls on the socket show the state: undici unshifts the rest when it pauses, and reads when it resumes.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { errorCode } from '../errors.js';

/** Measures what is read from sockets. */
export interface SocketMeter {
  /** Returns for how many milliseconds to pause reading. */
  read(bytes: number): number;
}

export const withDeferredSocketEnd =
  (connect: buildConnector.connector, meter?: SocketMeter): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...opened) => {
      if (opened[0] === null) {
        if (meter !== undefined) meterSocket(opened[1], meter);
        deferSocketEnd(opened[1]);
      }
      callback(...opened);
    });

type Emit = (this: Socket, event: string | symbol, ...values: unknown[]) => boolean;

/** While it pauses, the parser finds nothing to read, and the kernel stops the server. */
function meterSocket(socket: Socket, meter: SocketMeter): void {
  const { read } = socket;
  let isPaused = false;
  socket.read = (size) => {
    if (size === 0) return read.call(socket, size);
    if (isPaused) return null;
    const chunk: unknown = read.call(socket, size);
    const pauseMs = chunk instanceof Uint8Array ? meter.read(chunk.length) : 0;
    if (pauseMs > 0) {
      isPaused = true;
      setTimeout(() => {
        isPaused = false;
        if (!socket.destroyed) socket.emit('readable');
      }, pauseMs).unref();
    }
    return chunk;
  };
}

export function deferSocketEnd(socket: Socket): void {
  const { read, unshift } = socket;
  const emit: Emit = socket.emit;
  let isPaused = false;
  let isEndHeld = false;
  let hasFailed = false;
  // Otherwise it would close by itself while its end is delayed.
  socket.allowHalfOpen = true;

  const tellEnd = (): void => {
    if (isPaused || !isEndHeld) return;
    isEndHeld = false;
    emit.call(socket, 'end');
  };
  const fail = (cause?: unknown): boolean => {
    hasFailed = true;
    const error = new Error('The server closed the connection before its response was read.', { cause });
    return emit.call(socket, 'error', Object.assign(error, { code: 'UND_ERR_SOCKET' }));
  };

  socket.unshift = (...left) => {
    isPaused = true;
    unshift.apply(socket, left);
  };
  socket.read = (size) => {
    // The stream itself calls read(0) to request more data.
    if (size !== 0) isPaused = false;
    // After it has parsed what is there.
    if (isEndHeld) setImmediate(tellEnd);
    return read.call(socket, size);
  };
  const patient: Emit = (event, ...values) => {
    if (!isPaused) return emit.call(socket, event, ...values);
    if (event === 'end') {
      isEndHeld = true;
      return true;
    }
    // The only error that undici passes to its parser; all others end the request directly.
    if (event === 'error' && errorCode(values[0]) === 'ECONNRESET') return fail(values[0]);
    if (event === 'error') hasFailed = true;
    if (event === 'close' && !hasFailed) fail();
    return emit.call(socket, event, ...values);
  };
  socket.emit = patient;
}
