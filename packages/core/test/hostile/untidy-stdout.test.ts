import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { say, withRuntime } from './with-runtime.js';

const TEXT = 'zażółć 🦀 \u2028 end';
const KINDS = ['banner', 'partial', 'bom', 'crlf', 'blank', 'not-rpc', 'twice', 'unknown-id', 'split', 'all'];

describe.each([true, false])('an untidy stdout (express lane: %s)', (expressLane) => {
  it('does not affect calls: junk, BOM, CRLF, half lines, echoes, one byte at a time', async () => {
    const eras = ['legacy', 'modern'];
    const names = KINDS.flatMap((kind) => eras.map((era) => [kind, era] as const));
    const servers = Object.fromEntries(
      names.map(([kind, era]) => [`${kind}-${era}`, fixture('junk-on-stdout', '--junk', kind, '--era', era)]),
    );
    await withRuntime({ servers, expressLane }, async (runtime) => {
      const failed = runtime
        .status()
        .flatMap(({ name, status, error }) => (status === 'connected' ? [] : [`${name}: ${error?.message}`]));
      expect(failed).toEqual([]);
      const answers = await Promise.all(
        Object.keys(servers).map(async (name) => [name, await say(runtime, name, TEXT)]),
      );
      expect(answers).toEqual(Object.keys(servers).map((name) => [name, TEXT]));
    });
  });
});
