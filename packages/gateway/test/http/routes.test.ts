import { Agent, request } from 'node:http';
import { waitUntil } from '@turnbuckle/testing';
import { TurnbuckleError } from 'turnbuckle';
import type { CancelSignal } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';
import { readText } from '../../src/http/body.js';
import { Router } from '../../src/http/router.js';
import { openServer, route } from './open-server.js';

const headers = { authorization: 'Bearer all', 'content-type': 'application/json' };
const put = (url: string, body: string | Uint8Array<ArrayBuffer>): Promise<Response> =>
  fetch(`${url}/servers/a`, { method: 'PUT', headers, body });

describe('a route', () => {
  it('gets path, query, parameters and caller', async () => {
    const { url } = await openServer();
    const ask = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`, { headers })).json();
    expect(await ask('/tools?search=a%20b')).toEqual({ search: 'a b', caller: 'all' });
    expect(await ask('/servers/caf%C3%A9%20%3F')).toEqual({ name: 'café ?' });
  });

  it('keeps the connection for the next request, whether the body was read or not', async () => {
    const sockets: unknown[] = [];
    const which = route('POST', '/which/:reads', 'call', async (context) => {
      sockets.push(context.request.socket);
      return { length: context.parameters.reads === 'yes' ? (await readText(context)).length : 0 };
    });
    const { url } = await openServer({ routes: [which] });
    const agent = new Agent({ keepAlive: true });
    for (const reads of ['yes', 'no', 'yes', 'no', 'yes']) {
      await new Promise<void>((resolve) => {
        const send = request(`${url}/which/${reads}`, { agent, method: 'POST', headers }, (answer) =>
          answer.resume().once('close', resolve),
        );
        send.end('{}');
      });
    }
    agent.destroy();
    expect(sockets).toHaveLength(5);
    expect(new Set(sockets).size).toBe(1);
  });

  it.each([
    [
      '{"name":1}',
      422,
      'ARGUMENTS_INVALID',
      [{ path: 'name', message: expect.stringContaining('expected a string') }],
    ],
    [
      '{"name":"a","list":[{"port":"x"}]}',
      422,
      'ARGUMENTS_INVALID',
      [{ path: 'list[0].port', message: expect.any(String) }],
    ],
    [
      '{"name":"a","more":1}',
      422,
      'ARGUMENTS_INVALID',
      [{ path: 'more', message: expect.stringContaining('more') }],
    ],
    ['[]', 422, 'ARGUMENTS_INVALID', [{ path: '', message: expect.any(String) }]],
    ['{"name":', 400, 'REQUEST_INVALID', undefined],
    ['', 400, 'REQUEST_INVALID', undefined],
    [new Uint8Array([0x22, 0xff, 0x22]), 400, 'REQUEST_INVALID', undefined],
  ])('does not get the body %j', async (body, status, code, faults) => {
    const { url } = await openServer();
    const answer = await put(url, body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({
      success: false,
      code,
      error: expect.any(String),
      hint: expect.any(String),
      ...(faults && { data: { faults } }),
    });
  });

  it('gets a body that matches its schema', async () => {
    const { url } = await openServer();
    expect(await (await put(url, '{"name":"a","list":[{"port":1}]}')).json()).toEqual({
      name: 'a',
      list: [{ port: 1 }],
    });
  });

  it('answers a TurnbuckleError with the status of its code', async () => {
    const fails = route('GET', '/fails', 'read', () => {
      throw new TurnbuckleError('BREAKER_OPEN', 'No.', {
        hint: 'Wait.',
        server: 's',
        tool: 't',
        data: { retryAfterMs: 1_500, secret: 1 },
      });
    });
    const { url, defects } = await openServer({ routes: [fails] });
    const answer = await fetch(`${url}/fails`, { headers });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await answer.json()).toEqual({
      success: false,
      error: 'No.',
      code: 'BREAKER_OPEN',
      hint: 'Wait.',
      server: 's',
      tool: 't',
      data: { retryAfterMs: 1_500 },
    });
    expect(defects).toEqual([]);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('in /home/me'))],
    ['returns a value that is no JSON', () => ({ big: 1n })],
  ])('that %s does not reveal what went wrong', async (_, handle) => {
    const { url, defects } = await openServer({ routes: [route('GET', '/broken', 'read', handle)] });
    const answer = await fetch(`${url}/broken`, { headers });
    const text = await answer.text();
    expect(answer.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ success: false, code: 'INTERNAL' });
    expect(text).not.toMatch(/home|BigInt/);
    expect(defects).toHaveLength(1);
  });

  it('that fails in the middle of a response aborts it', async () => {
    const half = route('GET', '/half', 'read', ({ response }) => {
      response.write('{"half":');
      throw new Error('then this');
    });
    const { url, defects } = await openServer({ routes: [half] });
    await expect(fetch(`${url}/half`, { headers }).then((answer) => answer.text())).rejects.toThrow();
    expect(defects).toHaveLength(1);
  });

  it('is told when the client disconnects, and only then', async () => {
    const signals: CancelSignal[] = [];
    const waits = route('GET', '/waits', 'read', ({ signal, query }) => {
      signals.push(signal);
      return query.has('now') ? {} : new Promise(() => {});
    });
    const { url, server } = await openServer({ routes: [waits] });
    await (await fetch(`${url}/waits?now`, { headers })).json();
    const leave = new AbortController();
    const left = fetch(`${url}/waits`, { headers, signal: leave.signal }).catch(() => 'left');
    await waitUntil(() => server.inFlight === 1 && signals.length === 2);
    leave.abort();
    expect(await left).toBe('left');
    await waitUntil(() => server.inFlight === 0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it('cannot be defined twice', () => {
    const one = route('GET', '/a/:x', 'read');
    expect(() => new Router([one, route('GET', '/a/:y', 'read')])).toThrow('Duplicate route');
    expect(new Router([one, route('POST', '/a/:y', 'read')]).methodsOf('/a/b')).toEqual(['GET', 'POST']);
  });
});

describe('listening', () => {
  it('fails with LISTEN_FAILED when the port is taken', async () => {
    const { port } = await openServer();
    const { server } = await openServer();
    await server.close(0);
    await expect(server.listen(port, '127.0.0.1')).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
      data: { port, reason: 'EADDRINUSE' },
    });
  });
});
