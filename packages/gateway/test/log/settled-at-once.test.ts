import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { timeBound } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { openRecorded } from './recorded-runtime.js';

const LENGTH = 16 * 1_024;
const filled = (unit: string): string => unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH);

/** Texts that take long to search for secrets: much in them is a secret, or nearly one. */
const EXPENSIVE: Readonly<Record<string, string>> = {
  'pairs of names and secrets': filled('password=a&'),
  'text that is already redacted': filled('password=[redacted]x '),
  'nested credentials': filled('password=Bearer '),
  'members of JSON': filled('"password":"a",'),
  'nearly tokens': filled('pypi-'),
  'nearly signed tokens': filled('eyJaaaaaaaaaaaaaaaaaaaa '),
  'nearly cookies': filled('cookie:aaaaaaaaaaaaaaaaaaaaaaaaa'),
};
const CALLS = 20;

describe('calls that settle at once', () => {
  it.each(Object.entries(EXPENSIVE))(
    'are logged before their response, without blocking other requests: %s',
    async (_, text) => {
      // As many as a machine with many servers has.
      const secrets = Array.from(
        { length: 200 },
        (__, at) => `secret-value-${at}-${(at * 7_919).toString(36)}`,
      );
      const env = Object.fromEntries(secrets.map((secret, at) => [`API_KEY_${at}`, secret]));
      const { runtime, log } = await openRecorded({
        runtime: { servers: { other: { command: 'never-started', env } } },
      });
      // Its secrets are known from now on.
      await expect(runtime.connect('other')).rejects.toMatchObject({ server: 'other' });
      expect(runtime.redact(secrets[7])).toBe('[redacted]');
      let waiting: (() => void)[] = [];
      runtime.registerTool({
        name: 'wait',
        inputSchema: { type: 'object' },
        run: () =>
          new Promise((resolve) => {
            waiting.push(() => resolve('done'));
            if (waiting.length < CALLS) return;
            for (const end of waiting) end();
            waiting = [];
          }),
      });
      const logged = new Set<string>();
      const append = log.append.bind(log);
      log.append = (record) => {
        logged.add(record.id);
        return append(record);
      };
      const calls = async (prefix: string): Promise<void> => {
        const all = Array.from({ length: CALLS }, async (__, at) => {
          await runtime.execute('wait', { text }, { requestId: `${prefix}-${at}` });
          expect(logged).toContain(`${prefix}-${at}`);
        });
        await Promise.all(all);
      };
      await calls('warm');
      const stall = monitorEventLoopDelay({ resolution: 5 });
      stall.enable();
      // It measures from one tick to the next.
      await delay(20);
      await calls('measured');
      await delay(20);
      stall.disable();
      expect(stall.max / 1e6).toBeLessThan(timeBound(250));
      expect(logged.size).toBe(2 * CALLS);
    },
    30_000,
  );
});
