import { sampled } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TextRing } from '../../src/connection/processes/text-ring.js';
import { EventLines } from '../../src/connection/transports/http/event-lines.js';
import { LineFraming } from '../../src/connection/transports/line-framing.js';
import { readBoundedBody } from '../../src/fetching/bounded-body.js';
import { GrowingBuffer } from '../../src/fetching/growing-buffer.js';
import { startOwnServer } from './own-server.js';
import { strainOf } from './strain.js';
import { withRuntime } from './with-runtime.js';

const MB = 1024 * 1024;
/** The memory limit for two million pieces of one byte; as a list of pieces they need 250 MB and more. */
const BOUND = 80 * MB;

describe('an answer in pieces of one byte', () => {
  let server: Awaited<ReturnType<typeof startOwnServer>> | undefined;
  beforeAll(async () => {
    server = await startOwnServer('piecemeal');
  });
  afterAll(() => server?.stop());

  const ANSWERS: ReadonlyArray<readonly [kind: string, expressLane: boolean]> = [
    ['json', true],
    ['json', false],
    ['event', false],
    ['event', true],
    ['lines', true],
  ];
  it.each(sampled(ANSWERS, 2))(
    'uses memory in proportion to its size (%s, express lane: %s)',
    async (kind, expressLane) => {
      const servers = { far: { type: 'http', url: server?.url ?? '', era: 'legacy' as const } };
      // So many lines would count as a flood, which other tests cover.
      const limits = { unaskedBytesPerSecond: 1_024 * MB };
      await withRuntime({ servers, expressLane, limits }, async (runtime) => {
        const strain = await strainOf(async () => {
          const { content } = await runtime.callTool(
            'far',
            'crumbs',
            { kind, bytes: 2 * MB },
            { timeoutMs: 60_000 },
          );
          expect(content[0]?.type === 'text' && content[0].text.length).toBe(2 * MB);
        });
        expect(strain.peakBytes).toBeLessThan(BOUND);
        expect((await runtime.callTool('far', 'good')).content).toEqual([{ type: 'text', text: 'good' }]);
      });
    },
    90_000,
  );

  it('breaks a WebSocket, and the next call uses a new one', async () => {
    const url = (server?.url ?? '').replace('http:', 'ws:');
    const servers = { far: { type: 'websocket', url, era: 'legacy' as const, reconnect: { initialMs: 50 } } };
    await withRuntime({ servers }, async (runtime) => {
      const strain = await strainOf(async () => {
        const crumbs = runtime.callTool(
          'far',
          'crumbs',
          { kind: 'json', bytes: 2 * MB },
          { timeoutMs: 60_000 },
        );
        await expect(crumbs).rejects.toMatchObject({ code: 'CALL_OUTCOME_UNKNOWN', server: 'far' });
      });
      expect(strain.peakBytes).toBeLessThan(BOUND);
      expect((await runtime.callTool('far', 'good')).content).toEqual([{ type: 'text', text: 'good' }]);
    });
  }, 90_000);
});

describe('a buffer for incomplete data', () => {
  const holders: Array<[string, () => (piece: Buffer) => unknown]> = [
    ['a line', () => bound(framing())],
    ['an event', () => bound(new EventLines())],
    ['a body', () => bound(new GrowingBuffer())],
    ['the tail of stderr', () => bound(new TextRing(256 * 1_024))],
  ];
  const framing = (): LineFraming => new LineFraming({ onLine: () => {}, onOversized: () => {} }, 10 * MB);
  const bound =
    (holder: { push(piece: Buffer): unknown }) =>
    (piece: Buffer): unknown =>
      holder.push(piece);

  it.each(holders)('does not keep single pieces: %s', async (_name, open) => {
    const push = open();
    // As a socket delivers them: many small views of one buffer.
    const wire = Buffer.alloc(64 * 1_024, 'x');
    const strain = await strainOf(async () => {
      for (let round = 0; round < 32; round += 1) {
        for (let at = 0; at < wire.length; at += 1) push(wire.subarray(at, at + 1));
        await new Promise((resolve) => setTimeout(resolve, 21));
      }
    });
    expect(strain.peakBytes).toBeLessThan(BOUND);
  });

  it('does not keep single pieces: a fetched body', async () => {
    const wire = Buffer.alloc(2 * MB, 'x');
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < wire.length; at += 1) {
        if (at % (64 * 1_024) === 0) await new Promise((resolve) => setTimeout(resolve, 21));
        yield wire.subarray(at, at + 1);
      }
    }
    const rules = { url: new URL('http://127.0.0.1/'), headers: new Headers(), maxBytes: 3 * MB };
    const strain = await strainOf(async () => {
      expect(Buffer.compare(await readBoundedBody(pieces(), rules), wire)).toBe(0);
    });
    expect(strain.peakBytes).toBeLessThan(BOUND);
  });
});

describe('the lines of an event stream', () => {
  const text = 'id: 1\r\ndata: ż🦀\r\n\r\ndata: b\n\n: c\rdata: d\r\rdata: e\n\r\nrest';

  it.each([1, 2, 3, 5, 7, 1000])('are the same in pieces of %s bytes, and so is the count', (size) => {
    const bytes = Buffer.from(text);
    const lines = new EventLines();
    const read: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const ready = lines.push(bytes.subarray(at, at + size));
      if (ready === undefined) continue;
      expect([10, 13]).toContain(ready.at(-1));
      read.push(Buffer.from(ready));
    }
    expect(lines.length).toBe(4);
    expect(Buffer.concat([...read, lines.take()]).toString()).toBe(text.replaceAll(/\r\n?/g, '\n'));
  });

  it('are counted from zero after each event, even byte by byte', () => {
    const lines = new EventLines();
    let most = 0;
    for (const byte of Buffer.from('data: x\n\n'.repeat(100))) {
      lines.push(Buffer.of(byte));
      most = Math.max(most, lines.length);
    }
    expect(most).toBe(8);
  });
});
