import { fixture, startFixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { expectCalm, strainOf } from './strain.js';
import { say, withRuntime } from './with-runtime.js';

const MB = 1024 * 1024;

describe('floods', () => {
  it.each(['stdout_flood', 'stderr_flood', 'notification_flood'])(
    'of %s do not block the host',
    async (tool) => {
      const servers = { wet: fixture('oversized'), dry: fixture('echo') };
      await withRuntime({ servers }, async (runtime) => {
        const strain = await strainOf(async () => {
          const flood = runtime.callTool('wet', tool, { size: 48 * MB }, { timeoutMs: 20_000 });
          expect(await say(runtime, 'dry', 'meanwhile')).toBe('meanwhile');
          expect((await flood).content).toEqual([{ type: 'text', text: 'flooded' }]);
        });
        expect(strain.peakBytes).toBeLessThan(100 * MB);
        expectCalm(strain.stallMs);
        expect(runtime.serverStatus('wet').stderr?.length ?? 0).toBeLessThan(5_000);
        expect(await say(runtime, 'wet', 'after')).toBe('after');
      });
    },
  );

  it('of an endless line end with the call, and use bounded memory', async () => {
    await withRuntime({ servers: { wet: fixture('oversized') } }, async (runtime) => {
      const strain = await strainOf(async () => {
        const endless = runtime.callTool('wet', 'endless_line', { size: 100 * MB }, { timeoutMs: 1_500 });
        await expect(endless).rejects.toMatchObject({ server: 'wet', tool: 'endless_line' });
      });
      expect(strain.peakBytes).toBeLessThan(100 * MB);
    });
  });

  it.each([
    ['stdio', 'legacy'],
    ['stdio', 'modern'],
    ['http', 'legacy'],
    ['http', 'modern'],
  ])(
    'of list_changed notifications cause few reads, and the last state is correct (%s, %s)',
    async (way, era) => {
      const flags = ['--flood', '5000', '--era', era];
      const running =
        way === 'http' ? await startFixture('list-changing', { transport: 'http', flags }) : undefined;
      const moving =
        running === undefined ? fixture('list-changing', ...flags) : { type: 'http', url: running.url };
      await withRuntime({ servers: { moving } }, async (runtime) => {
        const { stallMs } = await strainOf(async () => {
          for (let round = 1; round <= 4; round += 1)
            await runtime.callTool('moving', 'mutate', { action: 'add', name: `fresh${round}` });
          await waitUntil(() => runtime.catalog.get('mcp__moving__fresh4'), 10_000);
        });
        const { content } = await runtime.callTool('moving', 'lists');
        const readings = content[0]?.type === 'text' ? Number(content[0].text) : Number.NaN;
        expect(readings).toBeLessThanOrEqual(15);
        expect(runtime.catalog.listByServer('moving').map(({ tool }) => tool)).toEqual([
          'echo',
          'first',
          'fresh1',
          'fresh2',
          'fresh3',
          'fresh4',
          'lists',
          'mutate',
        ]);
        expectCalm(stallMs);
      }).finally(() => running?.stop());
    },
  );
});
