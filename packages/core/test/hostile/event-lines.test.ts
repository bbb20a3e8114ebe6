import { sampled, timeBound } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventLines } from '../../src/connection/transports/http/event-lines.js';
import { EventReader } from '../../src/connection/transports/http/event-reader.js';
import { startOwnServer } from './own-server.js';
import { expectCalm, strainOf } from './strain.js';
import { withRuntime } from './with-runtime.js';

const SIZE = 65_536;

/** Lines without content that a server may fill a stream with. */
const BLOCKS: Readonly<Record<string, string>> = {
  returns: '\r',
  'line feeds': '\n',
  pairs: '\r\n',
  'a carriage return at the end': `${'\n'.repeat(SIZE - 2)}\rx`,
  'a carriage return at the start': `\r${'x\n'.repeat(SIZE / 2)}`,
  'lines of one character': 'x\n',
  'lines of one character, with carriage returns': 'x\r',
  comments: ':\n',
  'comments, pairs': ':\r\n',
  data: 'data:\n',
  'data without a colon': 'data\r',
  events: 'data:x\n\n',
  'events without data': 'data\n\n',
  ids: 'id:\n',
  retries: 'retry:1\n',
  'retries without a number': 'retry:\n',
  colons: '::\n',
};

const all = Object.keys(BLOCKS);

/** On the stream of a response, on the separate GET stream, and on the only stream of SSE. */
const STREAMS = all.flatMap((name) =>
  (['answer', 'stream', 'sse'] as const).map((where) => [name, where] as const),
);

describe('a stream of empty lines', () => {
  it.each(all)('is read in a time that grows with its length: %s', (name) => {
    const block = BLOCKS[name] ?? '';
    const chunk = Buffer.from(block.repeat(Math.ceil(SIZE / block.length)).slice(0, SIZE));
    const lines = new EventLines();
    const reader = new EventReader({ onEvent: () => {}, onRetry: () => {} });
    const begun = performance.now();
    for (let count = 0; count < 16; count += 1) {
      const whole = lines.push(chunk);
      if (whole !== undefined) reader.read(whole);
    }
    // A megabyte. It took a second with a full search for each line, and five with an Error for each.
    expect(performance.now() - begun).toBeLessThan(timeBound(120));
  });

  it.each(sampled(STREAMS, 5))(
    'does not block other work: %s, %s',
    async (name, where) => {
      const type = where === 'sse' ? 'sse' : 'http';
      const { url, stop } = await startOwnServer('pouring', type);
      onTestFinished(stop);
      const servers = { far: { type, url, era: 'legacy' as const } };
      await withRuntime({ servers }, async (runtime) => {
        const strain = await strainOf(async () => {
          const called = runtime.callTool(
            'far',
            'pour',
            { block: BLOCKS[name], where },
            { timeoutMs: 1_000 },
          );
          // The call succeeds in the end, or has timed out.
          await called.catch((error: unknown) => expect(error).toMatchObject({ code: 'CALL_TIMEOUT' }));
        });
        expect(strain.stallMs).toBeLessThan(timeBound(250));
        expectCalm(strain.stallMs);
      });
    },
    30_000,
  );
});
