/** A server may end, reset or truncate a response at any time, also while reading is paused: this never causes an uncaught exception. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createRandom } from '@turnbuckle/testing';
import undici from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDeferredSocketEnd } from '../../src/fetching/defer-socket-end.js';

const ENDS = ['end', 'reset', 'destroy'] as const;
const FRAMES = ['until-close', 'chunked', 'length', 'length-too-much'] as const;
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n';

let server: Server;
let answer: (socket: Socket) => void = () => {};
let pool: undici.Pool;
const uncaught: unknown[] = [];
const note = (error: unknown): void => void uncaught.push(error);

beforeAll(async () => {
  process.on('uncaughtExceptionMonitor', note);
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connect = withDeferredSocketEnd(undici.buildConnector({ timeout: 10_000 }));
  pool = new undici.Pool(`http://127.0.0.1:${port}`, { connections: 64, connect });
});
afterAll(async () => {
  process.off('uncaughtExceptionMonitor', note);
  await pool.destroy();
  server.close();
});

interface Plan {
  readonly frame: (typeof FRAMES)[number];
  readonly end: (typeof ENDS)[number];
  readonly parts: readonly string[];
  /** How long reading is paused after each part. */
  readonly pauses: readonly number[];
}

function play(socket: Socket, { frame, end, parts }: Plan): void {
  const length = parts.join('').length + (frame === 'length-too-much' ? 10 : 0);
  const more = { 'until-close': '', chunked: 'Transfer-Encoding: chunked\r\n' }[frame as string];
  const framed = (part: string): string =>
    frame === 'chunked' ? `${part.length.toString(16)}\r\n${part}\r\n` : part;
  socket.write(`${HEAD}${more ?? `Content-Length: ${length}\r\n`}\r\n`);
  for (const part of parts) socket.write(framed(part));
  if (frame === 'chunked') socket.write('0\r\n\r\n');
  if (end === 'end') socket.end();
  else if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 3);
  else setTimeout(() => socket.destroy(), 3);
}

/** The text received, and whether the response ended without an error. */
function read(plan: Plan): Promise<{ text: string; ended: boolean }> {
  let resolve: (read: { text: string; ended: boolean }) => void = () => {};
  const promise = new Promise<{ text: string; ended: boolean }>((done) => {
    resolve = done;
  });
  let text = '';
  let pauses = 0;
  const pause = (controller: undici.Dispatcher.DispatchController): void => {
    controller.pause();
    setTimeout(() => controller.resume(), plan.pauses[pauses % plan.pauses.length]);
    pauses += 1;
  };
  answer = (socket) => play(socket, plan);
  pool.dispatch(
    { path: '/', method: 'GET' },
    {
      onRequestStart() {},
      onResponseStart: (controller) => pause(controller),
      onResponseData(controller, chunk) {
        text += chunk.toString();
        // After a pause at the end of a part, an empty chunk follows.
        if (chunk.length > 0) pause(controller);
      },
      onResponseEnd: () => resolve({ text, ended: true }),
      onResponseError: () => resolve({ text, ended: false }),
    },
  );
  return promise;
}

describe.each(FRAMES.flatMap((frame) => ENDS.map((end) => ({ frame, end }))))(
  'a response framed by $frame that the server ends by $end',
  ({ frame, end }) => {
    it('comes to an end, whole where it was sent whole', async () => {
      const random = createRandom(7);
      const below = (limit: number): number => Math.floor(random() * limit);
      for (let round = 0; round < 25; round += 1) {
        const parts = Array.from({ length: below(4) + 1 }, () => 'x'.repeat(below(70_000) + 1));
        const pauses = Array.from({ length: 5 }, () => below(8));
        const { text, ended } = await read({ frame, end, parts, pauses });
        expect(parts.join('').startsWith(text)).toBe(true);
        const isWhole = text === parts.join('');
        if (end === 'end' && frame !== 'length-too-much') expect([isWhole, ended]).toEqual([true, true]);
        if (ended && frame !== 'until-close') expect(isWhole).toBe(true);
      }
      expect(uncaught).toEqual([]);
    });
  },
);
