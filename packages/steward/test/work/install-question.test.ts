/** What a person is asked is what is written: the whole entry, and the rights of the server. */
import { afterEach, describe, expect, it } from 'vitest';
import { INSTALL_SETTINGS_SCHEMA } from '../../src/install/allow-list.js';
import { planInstall } from '../../src/install/plan.js';
import { showPlan } from '../../src/install/show-plan.js';
import { filesRecord, type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';
import { npmRecord } from '../install/stage.js';
import { confined } from '../quarantine/stage.js';

let stage: StewardStage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function detailsOf(
  record: unknown,
  params: Json = {},
): Promise<{ details: string[]; warnings: string[] }> {
  stage = await openStewardStage({
    records: [record],
    settings: { allow: [{ type: 'npm', scope: '@acme' }, { type: 'remote' }] },
  });
  const id = await stage.request('add_server', { registryName: 'io.github.acme/files', ...params });
  return (await stage.approval(id)).subject as { details: string[]; warnings: string[] };
}

// requirement E3, E4
describe('the question about an installation', () => {
  it('has every variable that is written, fixed ones too, and secrets by name only', async () => {
    const { details } = await detailsOf(
      filesRecord({
        environmentVariables: [
          { name: 'FILES_UPLOAD', value: 'https://collect.example/all' },
          { name: 'FILES_KEY', isSecret: true, isRequired: true },
          { name: 'FILES_MODE', default: 'read only' },
          { name: 'FILES_ROOT', isRequired: true },
          { name: 'FILES_EXTRA' },
        ],
        packageArguments: [{ type: 'positional', value: 'two words <FILES_ROOT>' }],
      }),
      { values: { FILES_ROOT: '/given by/the caller' } },
    );
    expect(details.join('\n')).toMatch(/^command: .* 'two words <FILES_ROOT>'$/m);
    expect(details).toEqual(
      expect.arrayContaining([
        'environment: FILES_UPLOAD=https://collect.example/all',
        'environment: FILES_KEY=<secret FILES_KEY>',
        "environment: FILES_MODE='read only'",
        "environment: FILES_ROOT='/given by/the caller'",
        'environment: FILES_EXTRA=<FILES_EXTRA> (only if you fill it in)',
      ]),
    );
  });

  confined('says what the server may do in its sandbox', async () => {
    const { details, warnings } = await detailsOf(
      filesRecord({ environmentVariables: [{ name: 'FILES_ROOT', isRequired: true }] }),
    );
    const text = details.join('\n');
    expect(text).toContain('sandbox: on, with network access');
    expect(text).toContain(`may read: ${stage?.packageRoot}/server-files-1.2.3-`);
    expect(text).toContain('may write: its own home directory');
    expect(text).toContain(
      'may write: if you fill in the path of a directory, that directory; of a file, all of its directory (FILES_ROOT)',
    );
    expect(warnings).toEqual([]);
  });

  it('warns of a package that has no sandbox although this machine has one', () => {
    const record = npmRecord('mcp-server-time', '2026.1.1', { registryType: 'pypi' });
    const plan = planInstall(record, {
      serverName: 'time',
      settings: INSTALL_SETTINGS_SCHEMA.parse({ allow: [{ type: 'pypi' }] }),
      programs: { node: '/usr/bin/node', uvx: '/usr/bin/uvx' },
      root: '/srv/packages',
      now: 0,
      sandbox: true,
    });
    expect(JSON.stringify(plan)).toContain('the server runs with all your rights');
  });

  it('has the headers of a remote server, which is not said to run without a sandbox', async () => {
    const record = filesRecord();
    Object.assign(record.server, {
      packages: undefined,
      remotes: [
        {
          type: 'streamable-http',
          url: 'https://mcp.example.com/v1',
          headers: [
            { name: 'X-Share', value: 'everything' },
            {
              name: 'Authorization',
              value: 'Bearer {token}',
              variables: { token: { isSecret: true, isRequired: true } },
            },
          ],
        },
      ],
    });
    const { details, warnings } = await detailsOf(record);
    expect(details).toEqual(
      expect.arrayContaining([
        'address: https://mcp.example.com/v1 (http)',
        'header: X-Share: everything',
        "header: Authorization: 'Bearer '<secret token>",
      ]),
    );
    expect(warnings.join()).not.toContain('sandbox');
    expect(warnings.join()).toContain('leaves this machine and goes to mcp.example.com');
  });

  it('shows what the fields will be in: the caller’s value is the default of the field', async () => {
    await detailsOf(filesRecord({ environmentVariables: [{ name: 'FILES_ROOT', isRequired: true }] }), {
      values: { FILES_ROOT: '/srv' },
    });
    const answered = await stage?.api('GET', '/api/steward/approvals');
    const [approval] = (answered?.body.approvals ?? []) as { fields: Json[] }[];
    expect(approval?.fields[0]).toMatchObject({ name: 'FILES_ROOT', default: '/srv' });
  });
});

describe('the rights in the question', () => {
  const local = { type: 'stdio', command: '/usr/bin/uvx', args: [], env: {} } as const;

  it('of a server without a sandbox are all of the user, of an image those of a container', () => {
    expect(showPlan({ kind: 'pypi', inputs: [], server: local })).toContain(
      'sandbox: none; it may read and change all your files, and use the network',
    );
    expect(showPlan({ kind: 'oci', inputs: [], server: local }).join()).toContain('in a container');
  });

  it('an argument that is only there with a value is in brackets', () => {
    const inputs = [{ name: 'depth', isSecret: false, isRequired: false }];
    const server = { ...local, args: [[['--depth'], [{ input: 'depth' }]]] };
    expect(showPlan({ kind: 'pypi', inputs, server })[0]).toBe('command: /usr/bin/uvx [--depth <depth>]');
    expect(showPlan({ kind: 'pypi', inputs, server }, { depth: '3' })[0]).toBe(
      'command: /usr/bin/uvx --depth 3',
    );
  });
});
