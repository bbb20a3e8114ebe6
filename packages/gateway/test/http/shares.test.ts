import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readText } from '../../src/http/body.js';
import { isWithinFairShare } from '../../src/http/limits/fair-share.js';
import type { Credentials } from '../../src/identity/identity.js';
import { IdentityEnd } from '../../src/identity/identity-end.js';
import { type OpenServer, openServer, route } from './open-server.js';

describe('a share', () => {
  /** How many each of these gets if it takes as many as it can, one after the other. */
  function takeAll(max: number, who: readonly string[]): number[] {
    let taken = 0;
    return who.map((name) => {
      let own = 0;
      for (; isWithinFairShare({ own, taken, max, isOwner: name === 'owner' }); own += 1) taken += 1;
      return own;
    });
  }

  it('is at most half of what is free, and some is reserved for the owner', () => {
    expect(takeAll(1_024, ['a', 'b', 'c', 'owner', 'owner'])).toEqual([480, 240, 120, 184, 0]);
    const many = Array.from({ length: 100 }, (_, number) => `a${number}`);
    expect(takeAll(1_024, [...many, 'owner']).at(-1)).toBe(64);
    expect(takeAll(2, ['a', 'b'])).toEqual([2, 0]);
  });
});

const TEXT = 'x'.repeat(6 * 1_024 * 1_024);
const HASH = createHash('sha256').update(TEXT).digest('hex');

function open(limits: Parameters<typeof openServer>[0]): Promise<OpenServer & { end(who: string): void }> {
  const ends = new Map(['ada', 'bob', 'owner'].map((who) => [who, new IdentityEnd()]));
  const credentials: Credentials = {
    find: (token) => ({
      caller: { id: token, capabilities: [] },
      access: new Set(['call', 'read']),
      isOwner: token === 'owner',
      ended: ends.get(token),
    }),
  };
  const routes = [
    route('GET', '/large', 'read', () => TEXT),
    route('POST', '/held', 'call', async (context) => {
      await readText(context);
      return new Promise(() => {});
    }),
  ];
  return openServer({ ...limits, auth: { credentials }, routes }).then((server) => ({
    ...server,
    end: (who) => ends.get(who)?.end(),
  }));
}

function send(port: number, who: string, first: string, rest = '\r\n'): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(`${first} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${who}\r\n${rest}`);
  return socket;
}

/** The answer of a client that reads, as a hash. */
async function readLarge(url: string, who: string): Promise<string> {
  const response = await fetch(`${url}/large`, { headers: { authorization: `Bearer ${who}` } });
  return createHash('sha256')
    .update((await response.json()) as string)
    .digest('hex');
}

describe('a client that does not read its responses', () => {
  it('leaves a limited amount unsent in the daemon, and others are served', async () => {
    const server = await open({ limits: { maxUnsentBytes: 20 * 1_024 * 1_024 } });
    const slow = Array.from({ length: 20 }, () => send(server.port, 'ada', 'GET /large').pause());
    await waitUntil(() => server.reached.length === 20);
    // Each leaves about six megabytes, minus what the kernel buffers: the fourth exceeds the limit.
    await waitUntil(() => server.server.inFlight <= 5);
    expect(server.server.inFlight).toBeGreaterThan(0);
    expect(await Promise.all([readLarge(server.url, 'bob'), readLarge(server.url, 'bob')])).toEqual([
      HASH,
      HASH,
    ]);
    for (const socket of slow) socket.destroy();
    await waitUntil(() => server.server.inFlight === 0);
    expect(await readLarge(server.url, 'ada')).toBe(HASH);
  });

  it('is disconnected after a while; a slow reader is not', async () => {
    const server = await open({ limits: { slowReadMs: 3_000 } });
    send(server.port, 'ada', 'GET /large').pause();
    const slow = send(server.port, 'bob', 'GET /large');
    let bytes = 0;
    // Reads a little at a time, for longer than a client may read nothing.
    const began = performance.now();
    slow.on('data', (part) => {
      bytes += part.length;
      if (performance.now() - began > 4_500) return;
      slow.pause();
      setTimeout(() => slow.resume(), 30);
    });
    await waitUntil(() => bytes > TEXT.length, 20_000);
    await waitUntil(() => server.server.inFlight === 0, 30_000);
  }, 60_000);
});

describe('bodies in memory', () => {
  const MEGABYTE = 1_024 * 1_024;
  const post = (port: number, who: string, bytes: number): Promise<number> =>
    new Promise((resolve) => {
      const socket = send(
        port,
        who,
        'POST /held',
        `content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`,
      );
      socket.on('data', (part) => resolve(Number(String(part).split(' ')[1])));
      socket.write('x'.repeat(bytes));
    });

  it('are shared, released with their requests, and refused at once when the token ends', async () => {
    const server = await open({ limits: { maxHeldBytes: 16 * MEGABYTE } });
    const refused: number[] = [];
    for (let number = 0; number < 12; number += 1)
      void post(server.port, 'ada', MEGABYTE).then((status) => refused.push(status));
    await waitUntil(() => refused.length === 5);
    expect(refused).toEqual([503, 503, 503, 503, 503]);
    const before = 7;
    await waitUntil(() => server.server.inFlight === before);
    void post(server.port, 'bob', MEGABYTE);
    await waitUntil(() => server.server.inFlight === before + 1);
    // Announced, and never sent.
    const waiting = send(
      server.port,
      'owner',
      'POST /held',
      'content-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    );
    let heard = '';
    waiting.on('data', (part) => {
      heard += String(part);
    });
    await waitUntil(() => server.server.inFlight === before + 2);
    server.end('owner');
    await waitUntil(() => heard.startsWith('HTTP/1.1 401 '));
    server.end('ada');
    // Requests that do not end by themselves are aborted.
    await waitUntil(() => server.server.inFlight === 1);
    // What ada's requests held is free again: bob now gets as many as ada did, and no more.
    const late: number[] = [];
    for (let number = 0; number < 11; number += 1)
      void post(server.port, 'bob', MEGABYTE).then((status) => late.push(status));
    await waitUntil(() => late.length === 5);
    await waitUntil(() => server.server.inFlight === before);
    expect(late).toEqual([503, 503, 503, 503, 503]);
  });
});
