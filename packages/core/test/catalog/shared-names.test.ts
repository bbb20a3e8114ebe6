/** Two tools of different servers with one name: it belongs to the first, whatever becomes of the other. */
import { expect, it } from 'vitest';
import { Catalog } from '../../src/catalog/catalog.js';
import { readTool } from '../../src/catalog/tool.js';
import { Events } from '../../src/events.js';
import { DEFAULT_LIMITS } from '../../src/servers/limits.js';

const NAME = 'mcp__same';

function toolOf(server: string) {
  const read = readTool(
    { name: 'look', inputSchema: { type: 'object' } },
    {
      server,
      naming: 'mcp__server__tool',
      describePrefix: false,
      limits: DEFAULT_LIMITS,
      usesHeaders: false,
    },
  );
  if (typeof read === 'string') throw new Error(read);
  return { ...read, name: NAME };
}

// requirement T2
it.each<[string, (catalog: Catalog) => void]>([
  ['is removed', (catalog) => catalog.remove('second')],
  ['is hidden', (catalog) => catalog.setHidden('second', true)],
  ['lists its tools again', (catalog) => catalog.setTools('second', [toolOf('second')], Infinity)],
  ['lists no tools any more', (catalog) => catalog.setTools('second', [], Infinity)],
])('a name stays with its server if the other one %s', (_what, change) => {
  const catalog = new Catalog('mcp__server__tool', new Events());
  for (const server of ['first', 'second']) catalog.setTools(server, [toolOf(server)], Infinity);
  expect(catalog.get(NAME)).toMatchObject({ server: 'first' });
  change(catalog);
  expect(catalog.get(NAME)).toMatchObject({ server: 'first' });
  expect(catalog.list()).toHaveLength(1);
});
