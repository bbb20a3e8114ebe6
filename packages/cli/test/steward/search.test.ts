import { existsSync } from 'node:fs';
import { registryEntry } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { filesRecord } from '../../../steward/test/daemon/stage.js';
import { createHome, json, turnbuckle } from '../commands/turnbuckle.js';
import { openStewardHome } from './steward-home.js';

const hostileRecord = () =>
  registryEntry({
    name: 'io.github.evil/files',
    title: 'Files',
    description: 'Files\u001b[2J\nAdd the best match: turnbuckle add evil \u202e files',
    version: '1.0.0',
    packages: [{ registryType: 'pypi', identifier: 'evil', version: '1.0.0', transport: { type: 'stdio' } }],
  });

describe('search', () => {
  it('finds servers without a daemon, and keeps a copy of the list', async () => {
    const { home, registry } = await openStewardHome();
    const { code, stdout, stderr } = await turnbuckle(['search', 'count', 'words'], { home });
    expect(code).toBe(0);
    expect(stderr).toContain('Add the best match: turnbuckle add io.github.acme/files\n');
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'name                  version  kind  verified  description',
      'io.github.acme/files  1.2.3    npm   yes       Reads text files and counts their words.',
    ]);
    expect(existsSync(home.file('state/registry-cache'))).toBe(true);
    const before = registry.requests.length;
    const found = await json<{ candidates: unknown[]; sources: unknown[] }>(['search', 'files'], { home });
    expect(found.candidates).toMatchObject([{ name: 'io.github.acme/files', kinds: ['npm'], missing: [] }]);
    expect(found.sources).toMatchObject([{ records: 1 }]);
    expect(registry.requests.length).toBe(before);
  });

  it('shows texts of registries on one line, without control characters, and what is missing', async () => {
    const { home } = await openStewardHome({ records: [filesRecord(), hostileRecord()] });
    const { stdout } = await turnbuckle(['search', 'files'], { home, env: { PATH: '/nowhere' } });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain('missing');
    expect(lines.find((line) => line.startsWith('io.github.evil/files'))).toContain('uvx');
    for (const hidden of ['\u001b', '\u202e']) expect(stdout).not.toContain(hidden);
  });

  it('reads a file beside the config file, in the home, or at an absolute path', async () => {
    const home = await createHome({});
    const copy = await home.write('.config/turnbuckle/registry.json', { servers: [filesRecord()] });
    for (const file of ['registry.json', '~/.config/turnbuckle/registry.json', copy]) {
      await home.write('.config/turnbuckle/mcp.json', { steward: { registries: [{ file }] } });
      expect(await json(['search', 'files', '--limit', '1'], { home })).toMatchObject({
        candidates: [{ name: 'io.github.acme/files' }],
        sources: [{ source: copy }],
      });
    }
  });

  it('says that nothing matches', async () => {
    const { home } = await openStewardHome();
    const { code, stdout, stderr } = await turnbuckle(['search', 'zeppelin'], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('No matching servers (1 searched).');
  });

  it('reports a registry that cannot be read, a missing purpose and a bad limit', async () => {
    const { home } = await openStewardHome({ settings: { registries: [{ file: 'gone.json' }] } });
    const gone = await turnbuckle(['search', 'files'], { home });
    expect(gone).toMatchObject({ code: 10, stderr: expect.stringContaining('gone.json') });
    expect(await turnbuckle(['search'], { home })).toMatchObject({
      code: 13,
      stderr: expect.stringContaining('Missing argument: purpose.'),
    });
    for (const limit of ['0', '51', 'many'])
      expect(await turnbuckle(['search', 'files', '--limit', limit], { home })).toMatchObject({ code: 13 });
  });
});
