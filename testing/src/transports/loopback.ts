import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoopbackOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Stay alive when stdin ends. */
  readonly outliveStdin: boolean;
}

/** Listens on 127.0.0.1 and returns the server with its origin. */
export async function listenOnLoopback(
  port: number,
  listener?: RequestListener,
): Promise<{ server: Server; origin: string }> {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return { server, origin: `http://127.0.0.1:${portOf(server.address())}` };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}

/** Prints `READY <url>` on stdout, and ends the process when stdin ends. */
export function announceReady(url: string, { outliveStdin }: LoopbackOptions): void {
  process.stdout.on('error', () => {});
  process.stdout.write(`READY ${url}\n`);
  if (outliveStdin) return;
  process.stdin.on('end', () => process.exit(0));
  process.stdin.on('error', () => process.exit(0));
  process.stdin.resume();
}
