import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpResponseParser } from '../../src/daemon/http/http-response-parser.js';
import { createEventReader } from '../../src/daemon/http/server-sent-events.js';

/** Parses a response that arrives in pieces, cut at these positions. */
function read(answer: Buffer, cuts: readonly number[]): { reader: HttpResponseParser; body: string } {
  const reader = new HttpResponseParser((what) => new Error(what));
  const places = [...new Set(cuts.map((cut) => cut % answer.length))].sort((left, right) => left - right);
  const parts: Buffer[] = [];
  for (const [index, start] of [0, ...places].entries())
    parts.push(...reader.push(answer.subarray(start, places[index])));
  return { reader, body: Buffer.concat(parts).toString('utf8') };
}

const chunked = (pieces: readonly string[]): Buffer =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${[...pieces, '']
      .map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`)
      .join('')}`,
  );

const cuts = fc.array(fc.nat(5_000), { maxLength: 30 });
const piece = fc.string({ unit: 'binary', minLength: 1, maxLength: 50 });

describe('an HTTP response', () => {
  it('with a content length is complete after that many bytes, however it is cut', () => {
    fc.assert(
      fc.property(piece, cuts, (text, at) => {
        const head = `HTTP/1.1 404 Not Found\r\nContent-Length: ${Buffer.byteLength(text)}\r\nX: y\r\n\r\n`;
        const { reader, body } = read(Buffer.from(head + text), at);
        expect(reader.status).toBe(404);
        expect(reader.isComplete).toBe(true);
        expect(body).toBe(Buffer.from(text).toString('utf8'));
      }),
    );
  });

  it('in chunks gives the same text, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), cuts, (pieces, at) => {
        const { reader, body } = read(chunked(pieces), at);
        expect(reader.isComplete).toBe(true);
        expect(body).toBe(pieces.map((one) => Buffer.from(one).toString('utf8')).join(''));
      }),
    );
  });

  it('without a length ends with the connection', () => {
    const { reader, body } = read(Buffer.from('HTTP/1.0 200 OK\r\n\r\nall of it'), [3, 18]);
    expect(reader.isComplete).toBe(false);
    expect(reader.end()).toBe(true);
    expect(body).toBe('all of it');
  });

  it('that is cut off is not complete', () => {
    const { reader } = read(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'), []);
    expect(reader.end()).toBe(false);
    expect(read(chunked(['abc']).subarray(0, -3), []).reader.end()).toBe(false);
  });

  it('is read after "100 Continue"', () => {
    const { reader } = read(Buffer.from('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'), []);
    expect(reader).toMatchObject({ status: 204, isComplete: true });
  });

  it.each([
    'SSH-2.0-OpenSSH\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1'.repeat(70_000)}`,
    'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc',
  ])('is not %j', (text) => {
    expect(() => read(Buffer.from(text), [])).toThrow();
  });
});

const BOUND = { maxCharacters: 100, createError: () => new Error('too long') };

describe('an event stream', () => {
  it('limits the length of one event, not the number of events', () => {
    const take = createEventReader(() => {}, BOUND);
    for (let at = 0; at < 100; at += 1) take('data: some words\n\n');
    take('x'.repeat(60));
    expect(() => take('x'.repeat(60))).toThrow('too long');
  });

  it('gives the same events, however it is cut', () => {
    const text = 'event: progress\ndata: {"a":1}\n\n: \n\ndata: b\ndata: c\n\nevent: result\ndata: d\n\n';
    fc.assert(
      fc.property(cuts, (at) => {
        const events: [string, string][] = [];
        const take = createEventReader((name, data) => events.push([name, data]), BOUND);
        const places = [...new Set(at.map((cut) => cut % text.length))].sort((left, right) => left - right);
        for (const [index, start] of [0, ...places].entries()) take(text.slice(start, places[index]));
        expect(events).toEqual([
          ['progress', '{"a":1}'],
          ['message', 'b\nc'],
          ['result', 'd'],
        ]);
      }),
    );
  });
});
