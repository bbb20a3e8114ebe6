/** stdin and stdout of an agent, carried to a daemon that runs: it has the servers up already, and decides as for any agent. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { refusalOf } from './daemon-client.js';
import { NoAnswer } from './exchange.js';

/** Whom the client is taken for. */
export interface StdioWho {
  readonly name: string | undefined;
  readonly capabilities: readonly string[] | undefined;
}

export interface StdioRequest extends StdioWho {
  readonly url: string;
  readonly token: string | undefined;
  readonly view: string | undefined;
}

/** What the daemon takes in the place of a path; by hand, for its package takes long to load. */
const TARGET = 'mcp-stdio:0';
const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 64 * 1_024;
const SILENCE_MS = 5_000;

/** Resolves when the client has left. Rejects with NoAnswer, the daemon's refusal, or CONNECTION_LOST. */
export async function stdioThroughDaemon({ signal }: CommandContext, request: StdioRequest): Promise<void> {
  const { socket, rest } = await openTunnel(request);
  const { stdin, stdout } = process;
  const leave = (): void => {
    stdin.destroy();
    socket.end();
  };
  let hasLeft = false;
  const left = (): void => {
    hasLeft = true;
  };
  stdin.once('end', left).once('close', left);
  // A client that is gone takes nothing in any more.
  stdout.on('error', leave);
  signal.addEventListener('abort', leave, { once: true });
  try {
    if (rest.length > 0) stdout.write(rest);
    stdin.pipe(socket);
    socket.pipe(stdout, { end: false });
    await once(socket, 'close');
  } catch {
    // Told below.
  } finally {
    signal.removeEventListener('abort', leave);
    stdin.unpipe(socket);
    stdin.destroy();
  }
  if (!hasLeft && !signal.aborted) throw await whyLost(request);
}

/** A daemon that still runs says why: the token is revoked, for example. */
async function whyLost(request: StdioRequest): Promise<TurnbuckleError> {
  try {
    (await openTunnel(request)).socket.destroy();
    return cutOff(request.url);
  } catch (error) {
    return error instanceof TurnbuckleError ? error : lost(request.url);
  }
}

async function openTunnel(
  request: StdioRequest,
): Promise<{ readonly socket: Socket; readonly rest: Buffer }> {
  const { hostname, port } = new URL(request.url);
  const socket = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ''));
  socket.setNoDelay(true);
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('it is silent')));
  socket.write(headOf(request));
  let head = Buffer.alloc(0);
  try {
    for (;;) {
      const [part] = await Promise.race([
        once(socket, 'data') as Promise<[Buffer]>,
        once(socket, 'close').then(() => Promise.reject(new Error('the connection ended'))),
      ]);
      head = Buffer.concat([head, part]);
      const cut = head.indexOf(HEAD_END);
      if (cut === -1 && head.length > MAX_HEAD_BYTES) throw new Error('this is not an answer in HTTP');
      if (cut === -1) continue;
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, cut))?.[1];
      if (status !== '200') throw await refused(socket, head.subarray(cut + HEAD_END.length));
      socket.pause();
      socket.setTimeout(0);
      return { socket, rest: head.subarray(cut + HEAD_END.length) };
    }
  } catch (error) {
    socket.destroy();
    if (error instanceof TurnbuckleError) throw error;
    throw new NoAnswer(error instanceof Error ? error.message : String(error), false);
  }
}

function headOf({ url, token, name, capabilities, view }: StdioRequest): string {
  const headers = {
    host: new URL(url).host,
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    'turnbuckle-caller': name,
    'turnbuckle-capabilities': capabilities?.join(' '),
    'turnbuckle-view': view,
  };
  const lines = Object.entries(headers).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${value.replace(/[^\x20-\x7e]/g, '?')}`],
  );
  return [`CONNECT ${TARGET} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

async function refused(socket: Socket, began: Buffer): Promise<TurnbuckleError> {
  let body = began.toString();
  socket.on('data', (part: Buffer) => {
    body += part.toString();
    if (body.length > MAX_HEAD_BYTES) socket.destroy();
  });
  if (!socket.readableEnded) await once(socket, 'close').catch(() => {});
  try {
    return refusalOf(JSON.parse(body));
  } catch {
    return refusalOf({ error: 'The daemon does not serve clients on stdin and stdout.' });
  }
}

const cutOff = (url: string): TurnbuckleError =>
  new TurnbuckleError('CONNECTION_LOST', `The daemon at ${url} runs, but has cut this client off.`, {
    hint: 'A client that does not read what it is told is cut off. Have it start its server again.',
  });

const lost = (url: string): TurnbuckleError =>
  new TurnbuckleError('CONNECTION_LOST', `The daemon at ${url} has ended, and this client with it.`, {
    hint: 'Start it again (turnbuckle serve start), and have the client start its server again.',
  });
