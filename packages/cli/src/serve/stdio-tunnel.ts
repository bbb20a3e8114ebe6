/** stdin and stdout of an agent, carried to a daemon that runs: it has the servers up already, and decides as for any agent. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { TurnbuckleError } from 'turnbuckle';
import { offAbort, onAbort } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { errorFromBody } from '../daemon/daemon-client.js';
import { NoResponseError } from '../daemon/http/send-request.js';

/** Whom the client is taken for. */
export interface StdioIdentity {
  readonly name: string | undefined;
  readonly capabilities: readonly string[] | undefined;
}

export interface StdioTunnelRequest extends StdioIdentity {
  readonly url: string;
  readonly token: string | undefined;
  readonly view: string | undefined;
}

/** What the daemon takes in the place of a path; by hand, for its package takes long to load. */
const CONNECT_PATH = 'mcp-stdio:0';
const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 64 * 1_024;
const IDLE_TIMEOUT_MS = 5_000;

/** Resolves when the client has left. Rejects with NoAnswer, the daemon's refusal, or CONNECTION_LOST. */
export async function tunnelStdio({ signal }: CommandContext, request: StdioTunnelRequest): Promise<void> {
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
  onAbort(signal, leave);
  try {
    if (rest.length > 0) stdout.write(rest);
    stdin.pipe(socket);
    socket.pipe(stdout, { end: false });
    await once(socket, 'close');
  } catch {
    // Told below.
  } finally {
    offAbort(signal, leave);
    stdin.unpipe(socket);
    stdin.destroy();
  }
  if (!hasLeft && !signal.aborted) throw await diagnoseLoss(request);
}

/** Asks a running daemon for the reason, such as a revoked token. */
async function diagnoseLoss(request: StdioTunnelRequest): Promise<TurnbuckleError> {
  try {
    (await openTunnel(request)).socket.destroy();
    return disconnectedError(request.url);
  } catch (error) {
    return error instanceof TurnbuckleError ? error : daemonEndedError(request.url);
  }
}

async function openTunnel(
  request: StdioTunnelRequest,
): Promise<{ readonly socket: Socket; readonly rest: Buffer }> {
  const { hostname, port } = new URL(request.url);
  const socket = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ''));
  socket.setNoDelay(true);
  socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy(new Error('it did not send anything in time')));
  socket.write(requestHead(request));
  let head = Buffer.alloc(0);
  try {
    for (;;) {
      const [part] = await Promise.race([
        once(socket, 'data') as Promise<[Buffer]>,
        once(socket, 'close').then(() => Promise.reject(new Error('the connection was closed'))),
      ]);
      head = Buffer.concat([head, part]);
      const cut = head.indexOf(HEAD_END);
      if (cut === -1 && head.length > MAX_HEAD_BYTES) throw new Error('not an HTTP response');
      if (cut === -1) continue;
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1', 0, cut))?.[1];
      if (status !== '200') throw await readErrorResponse(socket, head.subarray(cut + HEAD_END.length));
      socket.pause();
      socket.setTimeout(0);
      return { socket, rest: head.subarray(cut + HEAD_END.length) };
    }
  } catch (error) {
    socket.destroy();
    if (error instanceof TurnbuckleError) throw error;
    throw new NoResponseError(error instanceof Error ? error.message : String(error), false);
  }
}

function requestHead({ url, token, name, capabilities, view }: StdioTunnelRequest): string {
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
  return [`CONNECT ${CONNECT_PATH} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

async function readErrorResponse(socket: Socket, began: Buffer): Promise<TurnbuckleError> {
  let body = began.toString();
  socket.on('data', (part: Buffer) => {
    body += part.toString();
    if (body.length > MAX_HEAD_BYTES) socket.destroy();
  });
  if (!socket.readableEnded) await once(socket, 'close').catch(() => {});
  try {
    return errorFromBody(JSON.parse(body));
  } catch {
    return errorFromBody({ error: 'The daemon does not support stdio clients.' });
  }
}

const disconnectedError = (url: string): TurnbuckleError =>
  new TurnbuckleError('CONNECTION_LOST', `The daemon at ${url} disconnected this client.`, {
    hint: 'The client did not read messages fast enough. Restart the Turnbuckle server in the client.',
  });

const daemonEndedError = (url: string): TurnbuckleError =>
  new TurnbuckleError(
    'CONNECTION_LOST',
    `The daemon at ${url} stopped. Closing the connection to the client.`,
    {
      hint: 'Start the daemon (turnbuckle serve start) and restart the Turnbuckle server in the client.',
    },
  );
