import type { CatalogTool } from 'turnbuckle';
import { expect, it } from 'vitest';
import { toOfferedTools } from '../../src/loop/offered-tools.js';

const RUNTIME = { knowsSecret: () => false, redact: (value: unknown) => value };

// requirement E7
it('the schema of a tool is measured once, however many steps offer it', () => {
  let measured = 0;
  const inputSchema = {
    type: 'object',
    toJSON: () => {
      measured += 1;
      return { type: 'object' };
    },
  };
  const tools = [{ name: 'demo_echo', inputSchema }] as unknown as CatalogTool[];
  for (let step = 0; step < 3; step += 1) expect(toOfferedTools(tools, RUNTIME)).toHaveLength(1);
  expect(measured).toBe(1);
  // A new list of the server has new objects.
  toOfferedTools([{ ...tools[0], inputSchema: { ...inputSchema } }] as unknown as CatalogTool[], RUNTIME);
  expect(measured).toBe(2);
});
