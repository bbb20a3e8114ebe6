import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfiguration } from 'turnbuckle/host';
import { expect, it } from 'vitest';
import { AUTH_SCHEMA } from '../../src/config/schema/auth-schema.js';
import { readText } from '../docs/repository.js';

const blocks = [...readText('docs/sign-in.md').matchAll(/^```jsonc\n([\s\S]*?)^```$/gm)].map(
  ([, text = '']) => text,
);

async function load(text: string) {
  const home = await mkdtemp(join(tmpdir(), 'guide-'));
  const file = join(home, 'mcp.json');
  await writeFile(file, text);
  const environment = { HOME: home, XDG_CONFIG_HOME: home };
  const loaded = await loadConfiguration({ environment, cwd: home, files: [file], stateDir: home });
  await rm(home, { recursive: true, force: true });
  return loaded;
}

it('every configuration in the guide is valid', async () => {
  expect(blocks.length).toBeGreaterThanOrEqual(4);
  for (const block of blocks) expect((await load(block)).problems).toEqual([]);
});

it('every kind of credential has an example', () => {
  const shown = new Set([...blocks.join('').matchAll(/"type": "([\w-]+)"/g)].map(([, type]) => type));
  const kinds = AUTH_SCHEMA.def.options.map((option) => {
    const [first] = option.def.shape.type._zod.values ?? [];
    return String(first);
  });
  expect(kinds.length).toBe(8);
  expect(kinds.filter((kind) => !shown.has(kind))).toEqual([]);
});
