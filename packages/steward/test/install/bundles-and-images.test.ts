import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';
import type { GuardedFetch } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { INSTALL_SETTINGS_SCHEMA } from '../../src/install/allow-list.js';
import { verifyInstalled } from '../../src/install/install-directory.js';
import type { InstallableRecord } from '../../src/install/installable-record.js';
import { createStage, listTree, TINY_SERVER } from './stage.js';

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const text = (content: string): Uint8Array => new TextEncoder().encode(content);

const MANIFEST = {
  manifest_version: '0.3',
  name: 'tiny',
  version: '3.0.0',
  server: {
    type: 'node',
    entry_point: 'server/index.cjs',
    mcp_config: {
      command: 'node',
      args: ['${__dirname}/server/index.cjs', '--in=${user_config.folder}'],
      env: { API_KEY: '${user_config.key}' },
    },
  },
  user_config: {
    folder: { type: 'directory', title: 'Folder', required: true },
    key: { type: 'string', sensitive: true, required: true },
  },
};

const bundle = (manifest: unknown = MANIFEST, more: Zippable = {}): Uint8Array =>
  zipSync({
    'manifest.json': text(JSON.stringify(manifest)),
    'server/index.cjs': text(TINY_SERVER),
    ...more,
  });

/** Bundles have https addresses: the fetch of these tests maps one to loopback. */
async function createBundleStage(data: Uint8Array, sha256 = createHash('sha256').update(data).digest('hex')) {
  const stage = await createStage([]);
  const origin = 'https://bundles.example';
  const loopback = await serve((request, response) => {
    if (request.url?.startsWith('/away'))
      return void response.writeHead(302, { location: 'https://elsewhere.example/x' }).end();
    if (request.url?.startsWith('/moved'))
      return void response.writeHead(302, { location: '/tiny.mcpb' }).end();
    response.end(data);
  });
  const fetch: GuardedFetch = (url, init = {}) => {
    const { accept: _, ...rest } = init;
    return globalThis.fetch(String(url).replace(origin, loopback), rest);
  };
  const settings = INSTALL_SETTINGS_SCHEMA.parse({
    allow: [{ type: 'mcpb' }],
    registries: { mcpb: [origin] },
  });
  const record = (path = '/tiny.mcpb'): InstallableRecord => ({
    name: 'a/b',
    version: '3.0.0',
    packages: [
      {
        registryType: 'mcpb',
        identifier: `${origin}${path}`,
        version: '3.0.0',
        fileSha256: sha256,
        transport: { type: 'stdio' },
      },
    ],
  });
  Object.assign(stage.options, { fetch, settings });
  return { ...stage, record };
}

// requirement E3
describe('bundles (mcpb)', () => {
  it('are checked, unpacked and started by this Node', async () => {
    const { plan, carryOut, record, root } = await createBundleStage(
      bundle(MANIFEST, {
        'docs/': new Uint8Array(),
        'big.txt': new Uint8Array(3_000_000).map((_, at) => (at * at * 31) >> 7),
      }),
    );
    const planned = await plan(record('/moved'), { values: { folder: '/data' } });
    const file = join(planned.directory ?? '', 'server/index.cjs');
    expect(planned.shown.command).toEqual([process.execPath, file, '--in=/data']);
    const { entry, directory = '', packageHash } = await carryOut(planned, { values: { folder: '/data' } });
    expect(entry).toMatchObject({
      command: process.execPath,
      args: [file, '--in=/data'],
      env: { API_KEY: '${secret:tiny.key}' },
    });
    expect(readFileSync(file, 'utf8')).toBe(TINY_SERVER);
    expect(readFileSync(join(directory, 'big.txt'))).toHaveLength(3_000_000);
    expect(await verifyInstalled(directory, packageHash)).toMatchObject({ unchanged: true });
    expect(readdirSync(root)).toEqual([directory.split('/').at(-1)]);
  });

  const config = (more: object): unknown => ({
    ...MANIFEST,
    server: { ...MANIFEST.server, mcp_config: { ...MANIFEST.server.mcp_config, ...more } },
  });
  const server = (more: object): unknown => ({ ...MANIFEST, server: { ...MANIFEST.server, ...more } });

  it.each<[what: string, reason: string, data: Uint8Array]>([
    ['an entry above its directory', 'outside its directory', bundle(MANIFEST, { '../escaped': text('x') })],
    [
      'an absolute entry',
      'outside its directory',
      bundle(MANIFEST, { '/tmp/turnbuckle-escaped': text('x') }),
    ],
    ['an entry with backslashes', 'outside its directory', bundle(MANIFEST, { '..\\escaped': text('x') })],
    [
      'a symbolic link',
      'symbolic link',
      bundle(MANIFEST, { link: [text('/etc/passwd'), { os: 3, attrs: 0o120777 << 16 }] }),
    ],
    ['two equal names', 'two entries', bundle(MANIFEST, { 'SERVER/index.cjs': text('x') })],
    ['a file that is a directory, too', 'a file and a directory', bundle(MANIFEST, { server: text('x') })],
    ['a directory in a file', 'a file and a directory', bundle(MANIFEST, { 'Manifest.json/x': text('x') })],
    ['a name that is too long', 'whose name is too long', bundle(MANIFEST, { ['é'.repeat(128)]: text('x') })],
    [
      'very deep directories',
      'whose name is too long',
      bundle(MANIFEST, { [`${'d/'.repeat(60)}x`]: text('x') }),
    ],
    ['a bomb', 'is too large when unpacked', bundle(MANIFEST, { bomb: new Uint8Array(20_000_000) })],
    [
      'very many files',
      'more than 20000 files',
      bundle(
        MANIFEST,
        Object.fromEntries(
          Array.from({ length: 20_001 }, (_, at) => [`f/${at}`, [new Uint8Array(), { level: 0 }] as const]),
        ) as Zippable,
      ),
    ],
    ['no zip file', 'is not a zip file', text('hello, this is no archive at all')],
    ['no manifest', 'has no manifest.json', zipSync({ x: text('x') })],
    ['a broken manifest', 'not valid', zipSync({ 'manifest.json': text('{') })],
    ['Python', 'only "node" is supported', bundle(server({ type: 'python' }))],
    ['a binary', 'only "node" is supported', bundle(server({ type: 'binary' }))],
    ['another command', 'instead of node', bundle(config({ command: 'sh' }))],
    [
      'options of node',
      'does not start its own entry point',
      bundle(config({ args: ['--require', 'x', '${__dirname}/server/index.cjs'] })),
    ],
    [
      'an entry point elsewhere',
      'is not one of its JavaScript files',
      bundle(server({ entry_point: '../../x.js' })),
    ],
    ['an unsafe variable', 'environment variable', bundle(config({ env: { NODE_OPTIONS: '--require x' } }))],
    [
      'an unknown variable',
      'unknown variable',
      bundle(config({ args: ['${__dirname}/server/index.cjs', '${HOME}'] })),
    ],
  ])('refuses %s', async (_, reason, data) => {
    const { home, root, whyRefused, record } = await createBundleStage(data);
    const before = listTree(home.path);
    expect(await whyRefused(record())).toContain(reason);
    expect(listTree(home.path).filter((line) => !root.endsWith(line.split(' ')[0] ?? ''))).toEqual(before);
  });

  it.each(['turnbuckle-package.json', 'turnbuckle-package.json/x'])('refuses the entry %s', async (name) => {
    const { plan, carryOut, record, root } = await createBundleStage(
      bundle(MANIFEST, { [name]: text('{}') }),
    );
    const installing = carryOut(await plan(record()), { values: { folder: '/data' } });
    await expect(installing).rejects.toMatchObject({
      code: 'FETCH_REFUSED',
      message: expect.stringContaining('has an entry named turnbuckle-package.json'),
    });
    expect(readdirSync(root).filter((left) => !left.endsWith('.lock'))).toEqual([]);
  });

  it('refuses another hash, no hash, and other places', async () => {
    const { whyRefused, record } = await createBundleStage(bundle(), 'a'.repeat(64));
    expect(await whyRefused(record())).toContain('does not match the SHA-256 hash in its registry record');
    const { packages: [one] = [] } = record();
    expect(
      await whyRefused({ ...record(), packages: one ? [{ ...one, fileSha256: undefined }] : [] }),
    ).toContain('no SHA-256');
    expect(await whyRefused(record('/away'))).toContain(
      'https://elsewhere.example, which is not an allowed origin',
    );
    const elsewhere = one ? [{ ...one, identifier: 'https://other.example/x.mcpb' }] : [];
    expect(await whyRefused({ ...record(), packages: elsewhere })).toContain('https://other.example');
  });
});

describe('container images', () => {
  const body = JSON.stringify({ schemaVersion: 2 });
  const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;

  async function createImageStage(engine: string) {
    const stage = await createStage([]);
    const url: string = await serve((request, response) => {
      if (request.url?.startsWith('/token')) return void response.end(JSON.stringify({ token: 'anonymous' }));
      if (request.headers.authorization !== 'Bearer anonymous')
        return void response
          .writeHead(401, { 'www-authenticate': `Bearer realm="${url}/token",service="images"` })
          .end();
      response.writeHead(request.url === '/v2/acme/tiny/manifests/1.0.0' ? 200 : 404).end(body);
    });
    const docker = stage.home.file('docker');
    writeFileSync(docker, `#!/bin/sh\n${engine}\n`);
    chmodSync(docker, 0o755);
    Object.assign(stage.options, {
      fetch: (at: string | URL, { accept: _, ...init }: RequestInit & { accept?: unknown } = {}) =>
        globalThis.fetch(at, init),
      settings: INSTALL_SETTINGS_SCHEMA.parse({ allow: [{ type: 'oci' }] }),
      programs: { node: process.execPath, docker },
    });
    const record = (version: string): InstallableRecord => ({
      name: 'a/b',
      version,
      packages: [
        {
          registryType: 'oci',
          identifier: `${new URL(url).host}/acme/tiny`,
          version,
          transport: { type: 'stdio' },
          runtimeHint: 'docker',
          runtimeArguments: [{ type: 'named', name: '--rm' }],
          packageArguments: [{ type: 'positional', value: '--privileged' }],
          environmentVariables: [{ name: 'API_KEY', isSecret: true, isRequired: true }],
        },
      ],
    });
    return { ...stage, docker, record, image: `${new URL(url).host}/acme/tiny@${digest}` };
  }

  it('are pinned by digest, downloaded, and run with names of variables only', async () => {
    const stage = await createImageStage('printf "%s\\n" "$@" > "$HOME-args"');
    const planned = await stage.plan(stage.record('1.0.0'));
    const { entry, packageHash } = await stage.carryOut(planned);
    expect(packageHash).toBe(digest);
    expect(readFileSync(stage.home.file('home-args'), 'utf8').split('\n')).toEqual([
      'pull',
      '--quiet',
      '--',
      stage.image,
      '',
    ]);
    expect(entry).toMatchObject({
      command: stage.docker,
      args: [
        'run',
        '--interactive',
        '--rm',
        '--security-opt',
        'no-new-privileges',
        '--env',
        'API_KEY',
        '--',
        stage.image,
        '--privileged',
      ],
      env: { API_KEY: '${secret:tiny.API_KEY}' },
    });
    await expect(stage.plan(stage.record('2.0.0'))).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
  });

  it('a failing engine is reported, and a slow one ends with the abort', async () => {
    const failing = await createImageStage('echo no daemon >&2; exit 1');
    await expect(failing.carryOut(await failing.plan(failing.record('1.0.0')))).rejects.toThrow('no daemon');
    const slow = await createImageStage('echo started > "$HOME-started"; sleep 600');
    const running = slow.carryOut(await slow.plan(slow.record('1.0.0')));
    const outcome = expect(running).rejects.toThrow('enough');
    await expect.poll(() => existsSync(slow.home.file('home-started'))).toBe(true);
    slow.abort.abort(new Error('enough'));
    await outcome;
  });

  it('need an engine, and take no options for it', async () => {
    const stage = await createImageStage('exit 0');
    const record = stage.record('1.0.0');
    const without = await stage.prepare(record, { programs: { node: process.execPath } });
    expect(without).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('neither docker nor podman'),
    });
    const packages = record.packages?.map((one) => ({
      ...one,
      runtimeArguments: [{ type: 'named' as const, name: '--privileged' }],
    }));
    expect(await stage.whyRefused({ ...record, packages })).toContain('adds the option "--privileged"');
  });
});
