/**
 * Sockets whose end waits for undici to go on. Where one ends, is reset or closes while its parser is paused, undici 7
 * throws from an event (nodejs/undici#5360), which ends the process: a server could choose that moment. What undici
 * tells the socket is enough to know: it puts back what is left when it pauses, and reads when it goes on.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

export const withPatientSockets =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...opened) => {
      if (opened[0] === null) makePatient(opened[1]);
      callback(...opened);
    });

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

type Emit = (this: Socket, event: string | symbol, ...values: unknown[]) => boolean;

export function makePatient(socket: Socket): void {
  const { read, unshift } = socket;
  const emit: Emit = socket.emit;
  let isPaused = false;
  let isEndHeld = false;
  let hasFailed = false;
  // Else it would close by itself while its end waits.
  socket.allowHalfOpen = true;

  const tellEnd = (): void => {
    if (isPaused || !isEndHeld) return;
    isEndHeld = false;
    emit.call(socket, 'end');
  };
  const fail = (cause?: unknown): boolean => {
    hasFailed = true;
    const error = new Error('The other side closed the connection while its answer was read.', { cause });
    return emit.call(socket, 'error', Object.assign(error, { code: 'UND_ERR_SOCKET' }));
  };

  socket.unshift = (...left) => {
    isPaused = true;
    unshift.apply(socket, left);
  };
  socket.read = (size) => {
    // The stream itself reads nothing at all, to have more brought.
    if (size !== 0) isPaused = false;
    // Once it has parsed what is there.
    if (isEndHeld) setImmediate(tellEnd);
    return read.call(socket, size);
  };
  const patient: Emit = (event, ...values) => {
    if (!isPaused) return emit.call(socket, event, ...values);
    if (event === 'end') {
      isEndHeld = true;
      return true;
    }
    // The only error that undici asks its parser about; all others end the request as they are.
    if (event === 'error' && codeOf(values[0]) === 'ECONNRESET') return fail(values[0]);
    if (event === 'error') hasFailed = true;
    if (event === 'close' && !hasFailed) fail();
    return emit.call(socket, event, ...values);
  };
  socket.emit = patient;
}
