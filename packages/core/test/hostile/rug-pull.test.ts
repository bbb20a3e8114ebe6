import { fixture, waitUntil } from '@turnbuckle/testing';
import type { RuntimeEvents } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';

// requirement T7
describe('a tool whose definition changes under the same name', () => {
  it.each(['description', 'schema', 'annotations', 'all'])('is reported as changed: %s', async (what) => {
    const runtime = await createOwnRuntime({
      servers: { shifty: fixture('schema-changing', '--what', what) },
    });
    const changes: RuntimeEvents['catalog.changed'][] = [];
    try {
      await runtime.connectAll();
      const before = runtime.catalog.info('mcp__shifty__shifty')?.fingerprint;
      runtime.on('catalog.changed', (change) => changes.push(change));
      await runtime.callTool('shifty', 'mutate');
      await waitUntil(() => changes.length > 0);
      expect(changes).toEqual([
        { server: 'shifty', kind: 'tools', added: [], removed: [], changed: ['shifty'] },
      ]);
      expect(runtime.catalog.info('mcp__shifty__shifty')?.fingerprint).not.toBe(before);
      expect((await runtime.callTool('shifty', 'echo', { text: 'neighbour' })).content).toHaveLength(1);
    } finally {
      await runtime.close();
    }
  });

  it('is noticed at the next read without a notification', async () => {
    const servers = { shifty: fixture('schema-changing', '--when', 'first-list', '--silent') };
    const runtime = await createOwnRuntime({ servers });
    const changed: string[] = [];
    try {
      await runtime.connectAll();
      runtime.on('catalog.changed', (change) => changed.push(...change.changed));
      await runtime.refresh('shifty');
      expect(changed).toEqual(['shifty']);
      await runtime.refresh('shifty');
      expect(changed).toEqual(['shifty']);
    } finally {
      await runtime.close();
    }
  });
});
