import { waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import type { Cell } from './call-contract.js';

const RESOURCE = { _meta: { 'example.com/at': 'resource' }, server: 'main' };

/** Resources, templates and prompts. */
export function itemsContract(cell: () => Cell): void {
  // requirement T8
  it('lists and reads resources and templates', async () => {
    const { runtime } = cell();
    expect(await runtime.listResources('main')).toEqual([
      { uri: 'fixture://greeting', name: 'greeting', mimeType: 'text/plain', ...RESOURCE },
      { uri: 'fixture://bytes', name: 'bytes', mimeType: 'application/octet-stream', ...RESOURCE },
      { uri: 'fixture://watched', name: 'watched', mimeType: 'text/plain', ...RESOURCE },
    ]);
    expect(await runtime.listResourceTemplates('main')).toEqual([
      { uriTemplate: 'fixture://items/{id}', name: 'item', mimeType: 'application/json', server: 'main' },
    ]);
    expect((await runtime.readResource('main', 'fixture://greeting')).contents).toEqual([
      { uri: 'fixture://greeting', mimeType: 'text/plain', text: 'hello', _meta: { at: 'contents' } },
    ]);
    expect((await runtime.readResource('main', 'fixture://bytes')).contents).toMatchObject([
      { blob: 'AAECAw==' },
    ]);
    expect((await runtime.readResource('main', 'fixture://items/ż 7')).contents).toMatchObject([
      { text: '{"id":"ż 7"}' },
    ]);
    await expect(runtime.readResource('main', 'fixture://absent')).rejects.toMatchObject({
      code: 'RESOURCE_UNKNOWN',
      server: 'main',
    });
  });

  it('reports changes of a watched resource until it is unwatched', async () => {
    const { runtime } = cell();
    let updates = 0;
    const stop = await runtime.subscribeResource('main', 'fixture://watched', (uri) => {
      if (uri === 'fixture://watched') updates += 1;
    });
    await runtime.callTool('main', 'touch');
    await waitUntil(() => updates === 1);
    await stop();
    await runtime.callTool('main', 'touch');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(updates).toBe(1);
  });

  it('lists and gets prompts', async () => {
    const { runtime } = cell();
    expect(await runtime.listPrompts('main')).toMatchObject([
      { name: 'simple', server: 'main' },
      { name: 'greet', arguments: [{ name: 'who', description: 'Whom', required: true }] },
    ]);
    expect(await runtime.getPrompt('main', 'greet', { who: 'Ada' })).toMatchObject({
      description: 'As asked',
      messages: [{ role: 'user', content: { type: 'text', text: 'Greet Ada.' } }],
    });
    await expect(runtime.getPrompt('main', 'absent')).rejects.toMatchObject({
      server: 'main',
      tool: 'absent',
    });
  });
}
