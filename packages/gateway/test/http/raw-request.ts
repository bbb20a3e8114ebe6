/** Requests written by hand, for what no HTTP client would send. */
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Writes the text, and returns what the other side sent before it closed. */
export function exchange(port: number, text: string): Promise<RawAnswer> {
  return talk(port, (socket) => socket.write(text));
}

export function talk(port: number, write: (socket: Socket) => void): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let got = '';
    socket.setEncoding('utf8');
    socket.on('connect', () => write(socket));
    socket.on('data', (part: string) => {
      got += part;
    });
    // A peer that has sent its whole response may reset the connection while we still write.
    socket.on('error', (error) => (got === '' ? reject(error) : undefined));
    socket.on('close', () =>
      got === '' ? reject(new Error('closed without an answer')) : resolve(parse(got)),
    );
  });
}

/** A request with these lines after the first, and `Connection: close`. */
export function request(first: string, headers: readonly string[], body = ''): string {
  return [`${first} HTTP/1.1`, ...headers, 'Connection: close', '', body].join('\r\n');
}

export function parse(raw: string): RawAnswer {
  const end = raw.indexOf('\r\n\r\n');
  const [first = '', ...lines] = raw.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const text = raw.slice(end + 4);
  return { status: Number(first.split(' ')[1]), headers, text, json: asRecord(text) };
}

function asRecord(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
