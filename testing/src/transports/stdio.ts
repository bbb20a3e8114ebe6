import type { Channel } from '../kernel/channel.js';
import type { FixtureServer } from '../kernel/fixture-server.js';
import { fail } from '../kernel/messages.js';
import { PARSE_ERROR, RpcError } from '../kernel/rpc-error.js';

/** Writes a message to stdout; hostile fixtures replace it. */
export type StdioWriter = (text: string) => void;

export interface StdioOptions {
  readonly write?: StdioWriter;
  /** Stay alive when stdin ends. */
  readonly outliveStdin: boolean;
}

/** Serves one session on stdin and stdout, one message per line. */
export function serveStdio(server: FixtureServer, options: StdioOptions): void {
  const write = options.write ?? writeLine;
  const channel: Channel = {
    deliver: (text) => write(text),
    writeRaw: (bytes) => void process.stdout.write(bytes),
    drop: () => process.stdout.destroy(),
  };
  const session = server.open(channel);
  // The client may be gone before the response: that must not crash the fixture.
  process.stdout.on('error', () => {});
  readLines(process.stdin, (line) => {
    const message = parse(line);
    if (message === undefined) fail(channel, null, new RpcError(PARSE_ERROR, 'not JSON'));
    else void session.receive(message, channel);
  });
  if (!options.outliveStdin) process.stdin.on('end', () => process.exit(0));
}

function writeLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

function readLines(input: NodeJS.ReadStream, onLine: (line: string) => void): void {
  let parts: string[] = [];
  input.setEncoding('utf8');
  input.on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    parts.push(first);
    for (const other of others) {
      const line = parts.join('');
      parts = [other];
      if (line.trim() !== '') onLine(line);
    }
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
