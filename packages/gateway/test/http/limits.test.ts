import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { collectGarbage, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServer, route } from './open-server.js';
import { exchange, request, talk } from './raw-request.js';

const HOST = 'Host: 127.0.0.1';
const TOKEN = 'Authorization: Bearer all';
const POST = `POST /mcp HTTP/1.1\r\n${HOST}\r\n${TOKEN}\r\nContent-Type: application/json\r\n`;
const MEGABYTE = 'x'.repeat(1024 * 1024);

/** Writes up to this many megabytes, each wrapped by `frame`, for as long as the other side reads. */
function pour(socket: Socket, megabytes: number, frame = (part: string): string => part): void {
  let left = megabytes;
  const go = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= 1;
      if (!socket.write(frame(MEGABYTE))) return void socket.once('drain', go);
    }
  };
  go();
}

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  return socket.on('error', () => {});
}

describe('the size of a request', () => {
  it('is checked against the announced length before the body arrives', async () => {
    const { port } = await openServer();
    const answer = await exchange(port, `${POST}Content-Length: 67108864\r\n\r\n{`);
    expect(answer).toMatchObject({ status: 413, json: { code: 'REQUEST_TOO_LARGE' } });
  });

  it('is limited for a body of 64 MB', async () => {
    const { port } = await openServer();
    const answer = await talk(port, (socket) => {
      socket.write(`${POST}Content-Length: 67108864\r\n\r\n`);
      pour(socket, 64);
    });
    expect(answer).toMatchObject({ status: 413, json: { code: 'REQUEST_TOO_LARGE' } });
  });

  it('is limited for chunks that never end', async () => {
    const { port } = await openServer();
    const answer = await talk(port, (socket) => {
      socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
      pour(socket, 200, (part) => `${part.length.toString(16)}\r\n${part}\r\n`);
    });
    expect(answer).toMatchObject({ status: 413, json: { code: 'REQUEST_TOO_LARGE' } });
  });

  it('bounds the memory it takes, even if it arrives in chunks of one byte', async () => {
    const { port } = await openServer({ limits: { maxBodyBytes: 4 * MEGABYTE.length } });
    const inUse = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
    const bound = 80 * 1024 * 1024;
    const before = inUse();
    let peak = before;
    const sampler = setInterval(() => {
      // Garbage does not count: how much of it there is depends on the collector.
      if (inUse() - before > bound) collectGarbage();
      peak = Math.max(peak, inUse());
    }, 20);
    onTestFinished(() => clearInterval(sampler));
    const crumbs = Buffer.from('1\r\nx\r\n'.repeat(64 * 1024));
    const answer = await talk(port, async (socket) => {
      socket.write(`${POST}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`);
      for (let round = 0; round < 24; round += 1) if (!socket.write(crumbs)) await once(socket, 'drain');
      socket.write('0\r\n\r\n');
    });
    expect(answer).toMatchObject({
      status: 200,
      text: expect.stringContaining(`{"length":${24 * 64 * 1024}}`),
    });
    // Kept as a list of chunks it took 170 MB.
    expect(peak - before).toBeLessThan(bound);
  });

  it('does not matter without a token: the body is not read', async () => {
    const { port } = await openServer();
    let socket: Socket | undefined;
    const answer = await talk(port, (opened) => {
      socket = opened;
      opened.write(`${POST.replace('Bearer all', 'Bearer no')}Content-Length: 67108864\r\n\r\n`);
      pour(opened, 64);
    });
    expect(answer.status).toBe(401);
    await waitUntil(() => socket?.destroyed);
  });

  it('is checked for a client with Expect: 100-continue before it sends the body', async () => {
    const { port } = await openServer();
    const refused = await exchange(port, `${POST}Content-Length: 67108864\r\nExpect: 100-continue\r\n\r\n`);
    expect(refused.status).toBe(413);
    const taken = await talk(port, (socket) => {
      socket.write(`${POST}Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`);
      socket.once('data', (part) => String(part).startsWith('HTTP/1.1 100') && socket.write('{}'));
    });
    expect(taken).toMatchObject({ status: 100, text: expect.stringContaining('{"length":2}') });
  });

  it('has its own limit for a route that sets one', async () => {
    const small = {
      ...route('POST', '/small', 'call', async (context) => context.maxBodyBytes),
      maxBodyBytes: 7,
    };
    const { port } = await openServer({ routes: [small], limits: { maxBodyBytes: 10 } });
    const send = (path: string, length: number) =>
      exchange(
        port,
        `${POST.replace('/mcp', path)}Connection: close\r\nContent-Length: ${length}\r\n\r\n${'1'.repeat(length)}`,
      );
    expect((await send('/small', 2)).text).toBe('7');
    expect((await send('/mcp', 10)).json).toEqual({ length: 10 });
    expect((await send('/mcp', 11)).status).toBe(413);
  });

  it('is limited for headers', async () => {
    const { port } = await openServer();
    const answer = await exchange(port, request('GET /tools', [HOST, TOKEN, `X-A: ${MEGABYTE}`]));
    expect(answer).toMatchObject({ status: 431, json: { code: 'HEADERS_TOO_LARGE', success: false } });
    const path = await exchange(port, request(`GET /${'a'.repeat(20_000)}`, [HOST, TOKEN]));
    expect(path.status).toBe(431);
  });

  it('does not matter for checks: every header is read, however many there are', async () => {
    const { port } = await openServer();
    const many = Array.from({ length: 3_000 }, () => 'a:');
    const answer = await exchange(port, request('GET /tools', [HOST, TOKEN, ...many, 'Origin: null']));
    expect(answer.json.code).toBe('ORIGIN_REFUSED');
  });
});

describe('the time of a request', () => {
  const limits = { headersTimeoutMs: 200, requestTimeoutMs: 400 };

  it('is limited for headers that arrive byte by byte, while others are served', async () => {
    const { port, url } = await openServer({ limits });
    const drops = Array.from({ length: 200 }, () => {
      const socket = open(port);
      const timer = setInterval(() => socket.write('a'), 40);
      socket.on('close', () => clearInterval(timer)).resume();
      socket.write('GET /tools HTTP/1.1\r\nX-A: ');
      return socket;
    });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    await waitUntil(() => drops.every(({ destroyed }) => destroyed), 20_000);
  });

  it('is reported with status 408 when it is over', async () => {
    const { port } = await openServer({ limits });
    const answer = await exchange(port, 'GET /tools HTTP/1.1\r\nX-A: ');
    expect(answer).toMatchObject({ status: 408, json: { code: 'REQUEST_TIMEOUT' } });
  });

  it('is limited for a body that does not arrive', async () => {
    const { port, server } = await openServer({ limits });
    const answer = await exchange(port, `${POST}Content-Length: 100\r\n\r\n{`);
    expect(answer.status).toBe(408);
    await waitUntil(() => server.inFlight === 0);
  });

  it('is limited for a connection that sends nothing', async () => {
    const { port } = await openServer({ limits });
    const socket = open(port).resume();
    await waitUntil(() => socket.destroyed, 20_000);
  });

  it('is not limited for a slow response', async () => {
    let finish = (): void => {};
    const slow = route(
      'GET',
      '/slow',
      'read',
      () => new Promise((resolve) => (finish = () => resolve({ slow: true }))),
    );
    const { port, server } = await openServer({ limits, routes: [slow] });
    const answer = exchange(port, request('GET /slow', [HOST, TOKEN]));
    await waitUntil(() => server.inFlight === 1);
    // Another request times out meanwhile, so enough time has passed.
    expect((await exchange(port, 'GET /tools HTTP/1.1\r\nX-A: ')).status).toBe(408);
    finish();
    expect((await answer).json).toEqual({ slow: true });
  });
});

describe('the number of requests', () => {
  /** A connection on which a request with a good token was answered. */
  async function openKnown(port: number): Promise<Socket> {
    const socket = open(port);
    socket.write(`GET /tools HTTP/1.1\r\n${HOST}\r\n${TOKEN}\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    return socket.resume();
  }

  it('is limited for connections: the oldest one without a token is closed', async () => {
    const { port } = await openServer({ limits: { maxConnections: 5 } });
    const known = await openKnown(port);
    const silent = Array.from({ length: 4 }, () => open(port).resume());
    await waitUntil(() => silent.every(({ readyState }) => readyState === 'open'));
    const late = await openKnown(port);
    await waitUntil(() => silent[0]?.destroyed);
    expect([known, late, ...silent].map(({ destroyed }) => destroyed)).toEqual([
      ...[false, false],
      ...[true, false, false, false],
    ]);
  });

  it('is limited for connections with a token', async () => {
    const { port, url } = await openServer({ limits: { maxConnections: 5 } });
    const known = [];
    for (let count = 0; count < 5; count += 1) known.push(await openKnown(port));
    const sixth = open(port).resume();
    await waitUntil(() => sixth.destroyed);
    expect(known.some(({ destroyed }) => destroyed)).toBe(false);
    for (const socket of known) socket.destroy();
    await waitUntil(async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok);
  });

  it('is limited for requests in flight; routes without a token still answer', async () => {
    const finish: Array<() => void> = [];
    const slow = route(
      'GET',
      '/slow',
      'read',
      () => new Promise((resolve) => finish.push(() => resolve({}))),
    );
    const { url, server } = await openServer({ limits: { maxInFlight: 2 }, routes: [slow] });
    const headers = { authorization: 'Bearer all' };
    const both = [fetch(`${url}/slow`, { headers }), fetch(`${url}/slow`, { headers })];
    await waitUntil(() => server.inFlight === 2);
    const third = await fetch(`${url}/slow`, { headers });
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await third.json()).toMatchObject({ success: false, code: 'OVERLOADED' });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    for (const one of finish) one();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    await waitUntil(() => server.inFlight === 0);
  });

  it('is limited for each token', async () => {
    const { url } = await openServer({ limits: { requests: { perSecond: 0.001, burst: 3 } } });
    const ask = (token: string) => fetch(`${url}/nothing`, { headers: { authorization: `Bearer ${token}` } });
    const statuses = [];
    for (let number = 0; number < 5; number += 1) statuses.push((await ask('all')).status);
    expect(statuses).toEqual([404, 404, 404, 429, 429]);
    expect((await ask('caller')).status).toBe(404);
    const refused = await ask('all');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(900);
    expect(await refused.json()).toMatchObject({ success: false, code: 'RATE_LIMITED' });
  });
});
