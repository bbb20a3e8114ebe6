import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { openServer, route } from './open-server.js';
import { exchange, request } from './raw-request.js';

const headers = { authorization: 'Bearer all' };

function held() {
  const finish: Array<() => void> = [];
  const slow = route(
    'GET',
    '/slow',
    'read',
    () => new Promise((resolve) => finish.push(() => resolve({ done: true }))),
  );
  return { slow, finish };
}

/** One connection that this side keeps open, and what it receives. */
function sendRequest(port: number, first: string) {
  const ask = `${first} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer all\r\n\r\n`;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: false }).setEncoding('utf8');
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  socket.write(ask);
  return { socket, ask, got: () => text };
}

describe('closing', () => {
  it('finishes requests in flight, and accepts no new ones', async () => {
    const { slow, finish } = held();
    const { url, port, server, reached } = await openServer({ routes: [slow] });
    const answer = fetch(`${url}/slow`, { headers });
    await waitUntil(() => finish.length === 1);
    const closed = server.close(60_000);
    // Reset instead of refused: a program that another thread is starting holds our sockets until it runs.
    const late = exchange(port, request('GET /health', ['Host: localhost']));
    await expect(late).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    expect(reached).toEqual(['GET /slow']);
    for (const one of finish) one();
    const { status, headers: sent } = await answer;
    expect([status, sent.get('connection')]).toEqual([200, 'close']);
    await closed;
    expect(server.inFlight).toBe(0);
  });

  it('does not wait for connections that are kept alive', async () => {
    const { url, port, server } = await openServer();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await new Promise<void>((resolve) => {
      get(`${url}/health`, { agent }, (response) => response.resume().on('end', resolve));
    });
    expect(port).toBeGreaterThan(0);
    await server.close(60_000);
    agent.destroy();
  });

  it('ends streams, and then does not wait for the connection', async () => {
    const stream = route('GET', '/stream', 'read', ({ response, closing }) => {
      response.writeHead(200).write('begin');
      closing.addEventListener('abort', () => setTimeout(() => response.end('end'), 10), { once: true });
    });
    const { port, server } = await openServer({ routes: [stream] });
    // A client that keeps the connection open as long as it can.
    const { socket, got } = sendRequest(port, 'GET /stream');
    await waitUntil(() => got().includes('begin'));
    await server.close(60_000);
    await waitUntil(() => socket.destroyed);
    expect(got()).toMatch(/begin\r\n3\r\nend\r\n0\r\n\r\n$/);
  });

  it('refuses another request on a connection that is still busy', async () => {
    const { slow, finish } = held();
    const { port, server } = await openServer({ routes: [slow] });
    const { socket, got, ask } = sendRequest(port, 'GET /slow');
    await waitUntil(() => finish.length === 1);
    const closed = server.close(60_000);
    await new Promise<void>((resolve) => socket.write(ask, () => resolve()));
    // On the same machine, what has been flushed has arrived.
    await waitUntil(() => socket.writableLength === 0);
    for (const one of finish) one();
    await closed;
    await waitUntil(() => socket.destroyed);
    expect(finish).toHaveLength(1);
    expect(got()).toContain('{"done":true}');
  });

  it('aborts requests that do not finish in time', async () => {
    const { slow, finish } = held();
    const { url, server } = await openServer({ routes: [slow] });
    const answer = fetch(`${url}/slow`, { headers }).catch(() => 'cut off');
    await waitUntil(() => finish.length === 1);
    await server.close(1);
    expect(await answer).toBe('cut off');
    await waitUntil(() => server.inFlight === 0);
  });

  it('uses the shortest grace period given', async () => {
    const { slow, finish } = held();
    const { url, server } = await openServer({ routes: [slow] });
    const answer = fetch(`${url}/slow`, { headers }).catch(() => 'cut off');
    await waitUntil(() => finish.length === 1);
    const closed = server.close(60_000);
    await server.close(1);
    expect(await answer).toBe('cut off');
    await closed;
  });
});
