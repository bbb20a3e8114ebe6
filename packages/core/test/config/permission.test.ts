import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createSetting } from './setting.js';

const SCRIPT = fileURLToPath(new URL('without-permission.mjs', import.meta.url));

it('a temporarily unreadable file keeps its previous content', async () => {
  const { home } = await createSetting();
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, home]);
  const kept = { servers: 1, removed: [], changed: [] };
  expect(JSON.parse(stdout)).toEqual([
    { ...kept, problems: 1 },
    { ...kept, problems: 0 },
    { ...kept, problems: 2 },
    { ...kept, problems: 0 },
  ]);
});
