/** What a person is told about a record belongs to the record that would be installed. */
import { registryEntry } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { INSTALL_SETTINGS_SCHEMA } from '../../src/install/allow-list.js';
import type { Registry } from '../../src/registry/registry.js';
import { findRecord } from '../../src/work/find-record.js';
import { registryFixture } from '../registry/registry-fixture.js';

const files = (namespace: string, owner: string, more: Partial<Parameters<typeof registryEntry>[0]> = {}) =>
  registryEntry({
    name: `${namespace}/filesystem`,
    title: 'Files',
    description: 'Reads files.',
    repository: `https://github.com/${owner}/servers`,
    packages: [
      {
        registryType: 'npm',
        identifier: `@${owner}/files`,
        version: '1.0.0',
        transport: { type: 'stdio' },
      },
    ],
    ...more,
  });

const REAL = files('io.github.modelcontextprotocol', 'modelcontextprotocol');
const PLAN = {
  serverName: 'files',
  settings: INSTALL_SETTINGS_SCHEMA.parse({ allow: [{ type: 'npm' }] }),
  programs: { node: process.execPath },
  root: '/srv/packages',
  now: 0,
  sandbox: false,
};

const find = (registry: Registry, registryName: string) =>
  findRecord(
    { registryName },
    { registry, model: undefined },
    { plan: PLAN, signal: new AbortController().signal, progress: () => {} },
  );

const BROKEN = { kind: 'status', status: 400 } as const;

// requirement E3
describe('a record that is named exactly', () => {
  it('is verified as it is now, not as it was listed', async () => {
    const name = 'io.github.acme/filesystem';
    const fixture = await registryFixture({ records: [files('io.github.acme', 'acme')] });
    const registry = fixture.open();
    expect(await find(registry, name)).toMatchObject({ verified: true });
    fixture.move(2 * 3_600_000);
    fixture.server.records = [files('io.github.acme', 'somebody-else')];
    // Its list cannot be read then: the one from before is used.
    fixture.server.faults.push(undefined, ...Array.from({ length: 4 }, () => BROKEN));
    expect(await find(registry, name)).toMatchObject({
      verified: false,
      record: { repository: { url: 'https://github.com/somebody-else/servers' } },
    });
  });

  it('resembles a better known one also if no search finds it, since its publisher calls it deprecated', async () => {
    const name = 'io.github.modelcontextprotoco1/filesystem';
    const imitation = files('io.github.modelcontextprotoco1', 'evil');
    const { server, open } = await registryFixture({ records: [REAL, imitation] });
    const similarTo = 'io.github.modelcontextprotocol/filesystem';
    expect(await find(open(), name)).toMatchObject({ similarTo, verified: false, isDeprecated: false });
    server.records = [REAL, files('io.github.modelcontextprotoco1', 'evil', { status: 'deprecated' })];
    const fresh = (await registryFixture({ records: server.records })).open();
    expect(await fresh.search('filesystem')).toHaveLength(1);
    expect(await find(fresh, name)).toMatchObject({ similarTo, verified: false, isDeprecated: true });
  });
});
