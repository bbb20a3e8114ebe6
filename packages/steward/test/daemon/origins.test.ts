/** The steward reaches the configured registries and nothing else, wherever they point to. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixture, registryEntry } from '@turnbuckle/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord } from './hostile-servers.js';
import { filesPackage, filesRecord, type Json, openStewardStage, type StewardStage } from './stage.js';

/** Another server: nobody may come along. */
const visits: string[] = [];
const elsewhere = createServer((request, response) => {
  visits.push(String(request.url));
  response.end('{}');
});
let other: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  other = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
});
afterAll(() => void elsewhere.close());

let stage: StewardStage;
afterEach(async () => {
  await stage.close();
  expect(visits).toEqual([]);
});

async function expectRefused(type: string, params: Json): Promise<Json> {
  const id = await stage.request(type, params);
  const status = await stage.approveAll(id);
  expect(status).toMatchObject({ state: 'failed' });
  expect(stage.config()).not.toHaveProperty('servers');
  return status.error as Json;
}

// requirement E4
describe('the steward does not follow', () => {
  it('a registry of servers that redirects', async () => {
    stage = await openStewardStage();
    stage.registry.fault = { kind: 'redirect', to: `${other}/v0.1/servers` };
    await expectRefused('search_servers', { purpose: 'files' });
    await expectRefused('add_server', { purpose: 'files' });
    await expectRefused('add_server', { registryName: 'io.github.acme/files' });
  });

  it('a package registry that redirects, for the document or the tarball', async () => {
    stage = await openStewardStage({
      packages: [filesPackage(), scriptedPackage('plain')],
      records: [filesRecord(), scriptedRecord('plain')],
    });
    stage.npm.redirect('/@acme/server-files', `${other}/files`);
    stage.npm.redirect('/@acme/server-plain/-/', `${other}/plain.tgz`);
    const document = await expectRefused('add_server', { registryName: 'io.github.acme/files' });
    expect(document.message).toContain('redirects');
    await expectRefused('add_server', { registryName: 'io.github.acme/plain' });
  });

  it('a tarball or a bundle elsewhere', async () => {
    const bundle = {
      registryType: 'mcpb',
      identifier: `${other}/bundle.mcpb`,
      fileSha256: 'a'.repeat(64),
      transport: { type: 'stdio' },
    };
    stage = await openStewardStage({
      packages: [scriptedPackage('plain', {}, { dist: { tarball: `${other}/plain.tgz` } })],
      records: [
        scriptedRecord('plain'),
        registryEntry({
          name: 'io.github.acme/bundle',
          title: 'Bundle',
          description: 'A bundle.',
          version: '1.0.0',
          packages: [bundle],
        }),
      ],
      settings: { allow: [{ type: 'npm', scope: '@acme' }, { type: 'mcpb' }] },
    });
    await expectRefused('add_server', { registryName: 'io.github.acme/plain' });
    await expectRefused('add_server', { registryName: 'io.github.acme/bundle' });
  });

  it('addresses in records: repository, website, icons, documentation', async () => {
    const record = filesRecord() as unknown as { server: Json };
    Object.assign(record.server, {
      websiteUrl: `${other}/docs`,
      repository: { url: `${other}/repository`, source: 'github' },
      icons: [{ src: `${other}/icon.png` }],
    });
    stage = await openStewardStage({ records: [record], config: { servers: { known: fixture('echo') } } });
    const search = await stage.request('search_servers', { purpose: 'files' });
    expect(await stage.until(search, 'completed', 'failed')).toMatchObject({ state: 'completed' });
    const add = await stage.request('add_server', { purpose: 'files' });
    expect(await stage.approveAll(add)).toMatchObject({ state: 'completed' });
  });
});
