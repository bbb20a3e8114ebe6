import { waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { FloodMeter } from '../../src/connection/protocol/flood-meter.js';
import { WireMeter } from '../../src/connection/transports/http/wire-meter.js';
import { answerAsOlder, ownHttpServer } from '../lifecycle/own-http-server.js';
import { withRuntime } from './with-runtime.js';

const MB = 1_024 * 1_024;
const STREAM = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** Answers requests, and floods the GET stream with what no event contains. */
async function floodingServer(
  head: string,
  flood: string,
): Promise<{ readonly url: string; readonly sentBytes: () => number }> {
  let sent = 0;
  const chunk = Buffer.from(flood.repeat(Math.ceil(65_536 / flood.length)));
  const url = await ownHttpServer(
    (asked, response) => answerAsOlder(asked, response),
    ({ socket }) => {
      const go = (): void => {
        while (socket?.destroyed === false && socket.write(chunk)) sent += chunk.length;
        if (socket?.destroyed === false) socket.once('drain', go);
      };
      socket?.write(head);
      go();
    },
  );
  return { url, sentBytes: () => sent };
}

describe('a flood that contains no event', () => {
  it.each([
    ['interim responses', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    [
      'interim responses with long headers',
      '',
      `HTTP/1.1 103 Early Hints\r\nlink: ${'a'.repeat(8_000)}\r\n\r\n`,
    ],
    ['chunk extensions', STREAM, `1;${'x'.repeat(8_000)}\r\n:\r\n`],
    ['one endless chunk extension', `${STREAM}1;`, 'x'.repeat(8_000)],
  ])('of %s is slowed down, and the server is stopped in the end', async (_name, head, flood) => {
    const { url, sentBytes } = await floodingServer(head, flood);
    const servers = { wet: { url, era: 'legacy' as const } };
    const limits = { unaskedBytesPerSecond: MB, maxFloodMs: 1_000 };
    await withRuntime({ servers, limits }, async (runtime) => {
      await waitUntil(() => runtime.serverStatus('wet').error !== undefined, 30_000);
      expect(runtime.serverStatus('wet').error).toMatchObject({ code: 'SERVER_FLOODED' });
      expect(sentBytes()).toBeLessThan(64 * MB);
    });
  });
});

describe('the meter of what is not content', () => {
  const create = () => {
    const flood = new FloodMeter({ unaskedBytesPerSecond: 1_000, maxFloodMs: 1_000 }, () => 0);
    return new WireMeter(flood);
  };

  it('lets responses of any size and number pass', () => {
    const meter = create();
    for (let call = 0; call < 10_000; call += 1) {
      expect(meter.read(65_536)).toBe(0);
      meter.response();
      meter.payload(65_000);
    }
    for (let call = 0; call < 10_000; call += 1) {
      expect(meter.read(500)).toBe(0);
      meter.response();
      meter.payload(40);
    }
  });

  it('lets content in chunks of one byte pass', () => {
    const meter = create();
    for (let chunk = 0; chunk < 10_000_000; chunk += 1_000) {
      expect(meter.read(6_000)).toBe(0);
      meter.payload(1_000);
    }
  });

  it('pauses a socket that brings anything else', () => {
    const meter = create();
    let pauseMs = 0;
    for (let read = 0; read < 1_000; read += 1) pauseMs = Math.max(pauseMs, meter.read(65_536));
    expect(pauseMs).toBeGreaterThan(0);
  });
});
