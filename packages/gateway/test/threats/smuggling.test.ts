/** Requests that two parsers would split at different places, sent to the daemon's port. */
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

const home = await temporaryDirectory();
const file = home.file('count');
const count = (): number => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);

let own: OwnDaemon;
beforeAll(async () => {
  own = await ownDaemon({ servers: { up: fixture('echo', '--counter-file', file) } });
  await own.post('/mcp/call', { server: 'up', tool_name: 'echo', arguments: { text: 'warm' } });
});
afterAll(async () => {
  await own.close();
  await home.remove();
});

/** A call that was authenticated, and whose response nothing waits for, has started before this one. */
async function countLater(): Promise<number> {
  await own.post('/mcp/call', { server: 'up', tool_name: 'echo', arguments: { text: 'after' } });
  return count();
}

/** The first lines of all answers on one connection, which the daemon or the last request closes. */
function exchange(text: string): Promise<string[]> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(Number(new URL(own.daemon.url).port), '127.0.0.1', () => socket.write(text));
    socket.setEncoding('latin1').on('data', (part: string) => {
      got += part;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(got.match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? []));
  });
}

const MEGABYTE = 1_024 * 1_024;
const CALL = JSON.stringify({ server: 'up', tool_name: 'count' });
const head = (first: string, ...lines: string[]): string =>
  [
    `${first} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${own.daemon.token}`,
    'Content-Type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n');
/** A whole request with an effect, and the last on its connection. */
const effect = (): string =>
  `${head('POST /mcp/call', `Content-Length: ${CALL.length}`, 'Connection: close')}${CALL}`;
const health = (): string => 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n';
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

it('a valid request has its effect', async () => {
  const before = count();
  expect(await exchange(effect())).toEqual(['200']);
  expect(count()).toBe(before + 1);
});

/** How the first request marks its end; each hides another request that begins where a wrong parser would stop. */
const AMBIGUOUS: Array<[string, () => string]> = [
  [
    'a length and chunks',
    () => `${head('POST /mcp/call', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n${effect()}`,
  ],
  [
    'chunks and a length that covers them',
    () => {
      const inside = `0\r\n\r\n${effect()}`;
      return `${head('POST /mcp/call', 'Transfer-Encoding: chunked', `Content-Length: ${inside.length}`)}${inside}`;
    },
  ],
  ['two lengths', () => `${head('POST /mcp/call', 'Content-Length: 0', 'Content-Length: 9')}${effect()}`],
  ['a list of lengths', () => `${head('POST /mcp/call', 'Content-Length: 0, 9')}${effect()}`],
  [
    'an unknown transfer encoding',
    () => `${head('POST /mcp/call', 'Transfer-Encoding: xchunked')}${effect()}`,
  ],
  ['a tab in chunks', () => `${head('POST /mcp/call', 'Transfer-Encoding:\x0bchunked')}0\r\n\r\n${effect()}`],
  [
    'a transfer encoding after chunked',
    () => `${head('POST /mcp/call', 'Transfer-Encoding: chunked, identity')}0\r\n\r\n${effect()}`,
  ],
  [
    'chunks that are declared twice',
    () =>
      `${head('POST /mcp/call', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n${effect()}`,
  ],
  [
    'a space after the name',
    () => `${head('POST /mcp/call', 'Transfer-Encoding : chunked', 'Content-Length: 0')}${effect()}`,
  ],
  ['a folded line', () => `${head('POST /mcp/call', 'Transfer-Encoding:\r\n chunked')}0\r\n\r\n${effect()}`],
  [
    'a bare line feed',
    () => `${head('POST /mcp/call', 'X-A: b\nTransfer-Encoding: chunked')}0\r\n\r\n${effect()}`,
  ],
  ['a length with a sign', () => `${head('POST /mcp/call', 'Content-Length: +0')}${effect()}`],
  ['a length in hexadecimal', () => `${head('POST /mcp/call', 'Content-Length: 0x0')}${effect()}`],
  [
    'a chunk without a proper size',
    () => `${head('POST /mcp/call', 'Transfer-Encoding: chunked')}0x2\r\n{}\r\n0\r\n\r\n${effect()}`,
  ],
  [
    'a chunk that ends with a line feed',
    () => `${head('POST /mcp/call', 'Transfer-Encoding: chunked')}2\n{}\n0\n\n${effect()}`,
  ],
  ['GET with a body', () => `${head('GET /tools', `Content-Length: ${effect().length}`)}${effect()}`],
];

describe('a request that hides another', () => {
  it.each(AMBIGUOUS)('by %s has one answer, and neither has an effect', async (_, write) => {
    const before = count();
    const answers = await exchange(write());
    expect(answers).toHaveLength(1);
    expect(Number(answers[0])).toBeGreaterThanOrEqual(400);
    expect(await countLater()).toBe(before);
  });

  it('behind an unread body is rejected: it would have an effect without a response', async () => {
    const before = count();
    const inside = effect();
    const unread = head('POST /nothing', `Content-Length: ${inside.length}`) + inside;
    const chunked = head('POST /nothing', 'Transfer-Encoding: chunked') + chunk(inside) + chunk('');
    for (const first of [unread, chunked]) expect(await exchange(first + effect())).toEqual(['404']);
    expect(await countLater()).toBe(before);
  });

  it('behind a body that is too large is ignored', async () => {
    const before = count();
    const first = head('POST /mcp/call', 'Transfer-Encoding: chunked') + chunk('x'.repeat(5 * MEGABYTE));
    expect(await exchange(first + chunk('') + effect())).toEqual(['413']);
    expect(await countLater()).toBe(before);
  });
});

describe('responses on one connection', () => {
  const slow = (...more: string[]): string => {
    const body = JSON.stringify({ server: 'up', tool_name: 'sleep', arguments: { ms: 30 } });
    return head('POST /mcp/call', `Content-Length: ${body.length}`, ...more) + body;
  };

  it('are in the order of the requests', async () => {
    expect(await exchange(slow() + head('GET /nothing') + health())).toEqual(['200', '404', '200']);
  });

  it.each([
    ['an invalid request', () => `${slow()}HELO\r\n\r\n`],
    ['a request after the last one', () => slow('Connection: close') + health()],
    [
      'a request that is broken later',
      () => `${slow()}${head('POST /mcp/call', 'Transfer-Encoding: chunked')}zz\r\n`,
    ],
  ])('are not displaced by %s', async (_, write) => {
    expect(await exchange(write())).toEqual(['200']);
  });
});
