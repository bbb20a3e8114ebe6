/** Finds a free port for a program that needs a fixed one; the system gives it to no other program meanwhile. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral port range. */
const FIRST = 10_000;
const COUNT = 20_000;
const MAX_TRIES = 100;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await canListen(port)) return port;
  }
  throw new Error(`None of ${MAX_TRIES} ports is free.`);
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
