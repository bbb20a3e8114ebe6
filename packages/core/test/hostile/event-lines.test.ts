import { sampled, timeBound } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventLines } from '../../src/connection/event-lines.js';
import { EventReader } from '../../src/connection/event-reader.js';
import { startOwnServer } from './own-server.js';
import { expectCalm, strainOf } from './strain.js';
import { withRuntime } from './with-runtime.js';

const SIZE = 65_536;

/** What a server may fill a stream with that says nothing. */
const BLOCKS: Readonly<Record<string, string>> = {
  returns: '\r',
  'line feeds': '\n',
  pairs: '\r\n',
  'a return at the end': `${'\n'.repeat(SIZE - 2)}\rx`,
  'a return at the start': `\r${'x\n'.repeat(SIZE / 2)}`,
  'lines of one character': 'x\n',
  'lines of one character, returns': 'x\r',
  comments: ':\n',
  'comments, pairs': ':\r\n',
  data: 'data:\n',
  'data without a colon': 'data\r',
  events: 'data:x\n\n',
  'events without data': 'data\n\n',
  ids: 'id:\n',
  retries: 'retry:1\n',
  'retries that are none': 'retry:\n',
  colons: '::\n',
};

const all = Object.keys(BLOCKS);

/** On the stream of an answer, on the one that is held open beside, and on the only one that there is. */
const ON_THE_WAY = all.flatMap((name) =>
  (['answer', 'stream', 'sse'] as const).map((where) => [name, where] as const),
);

describe('a stream of lines that say nothing', () => {
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
    // A megabyte. It was a second with a search to the end of it for each line, and five with an Error for each.
    expect(performance.now() - begun).toBeLessThan(timeBound(120));
  });

  it.each(sampled(ON_THE_WAY, 5))(
    'holds nobody up: %s, %s',
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
          // It is heard in the end, or nobody waits for it any more.
          await called.catch((error: unknown) => expect(error).toMatchObject({ code: 'CALL_TIMEOUT' }));
        });
        expect(strain.stallMs).toBeLessThan(timeBound(250));
        expectCalm(strain.stallMs);
      });
    },
    30_000,
  );
});
