import { writeFileSync } from 'node:fs';
import { temporaryDirectory } from '@turnbuckle/testing';
import fc from 'fast-check';
import { loadConfiguration } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Advisory, KNOWN_ADVISORIES } from '../../src/install/advisories.js';
import { type AllowRule, checkAllowed, INSTALL_SETTINGS_SCHEMA } from '../../src/install/allow-list.js';
import { fillEntry } from '../../src/install/entry-template.js';
import {
  comparePackageVersions,
  identifierFault,
  isExactVersion,
  isNpmName,
} from '../../src/install/identifiers.js';
import type { InstallPlan, PlanOptions } from '../../src/install/install-plan.js';
import type { InstallableRecord } from '../../src/install/installable-record.js';
import { npmArguments } from '../../src/install/npm/install-npm.js';
import { planInstall } from '../../src/install/plan.js';
import { type InstallRefusal, isRefusal } from '../../src/install/refusal.js';
import { npmRecord } from './stage.js';

/** The rule that a hint ends with. */
const ruleIn = (hint: string): AllowRule => JSON.parse(/: (\{.*\})$/.exec(hint)?.[1] ?? '');

const INTEGRITY = `sha512-${'A'.repeat(86)}==`;
const NOW = Date.parse('2026-06-01T00:00:00Z');

/** The settings of a config file with these rules. */
async function load(allow: readonly unknown[]) {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const file = home.file('mcp.json');
  writeFileSync(file, JSON.stringify({ steward: { allow } }));
  const place = { environment: { HOME: home.path }, cwd: home.path, stateDir: home.path };
  return loadConfiguration({ ...place, files: [file] });
}

const options = (more: Partial<PlanOptions> = {}, allow: unknown = [{ type: 'npm' }]): PlanOptions => ({
  serverName: 'files',
  settings: INSTALL_SETTINGS_SCHEMA.parse({ allow }),
  programs: {
    node: '/usr/bin/node',
    npm: '/usr/lib/npm-cli.js',
    uvx: '/usr/bin/uvx',
    docker: '/usr/bin/docker',
  },
  root: '/srv/packages',
  now: NOW,
  sandbox: true,
  verified: true,
  facts: { integrity: INTEGRITY, bin: { files: 'server.js' }, publishedAt: 0 },
  ...more,
});

function planned(record: InstallableRecord, given: PlanOptions = options()): InstallPlan {
  const plan = planInstall(record, given);
  if (isRefusal(plan)) throw new Error(plan.reason);
  return plan;
}

function refused(record: InstallableRecord, given: PlanOptions = options()): InstallRefusal {
  const plan = planInstall(record, given);
  if (!isRefusal(plan)) throw new Error('not refused');
  return plan;
}

const ANY = [{ type: 'npm' }, { type: 'pypi' }, { type: 'oci' }, { type: 'mcpb' }, { type: 'remote' }];

// requirement E3
describe('the allow-list', () => {
  const subject = {
    type: 'npm',
    name: '@acme/server-files',
    namespace: 'io.github.acme',
    verified: true,
  } as const;

  it('allows nothing without a rule, and says which rule would', () => {
    const refusal = refused(npmRecord('@acme/server-files', '1.0.0'), options({}, []));
    expect(refusal.reason).toBe('The npm package @acme/server-files is not allowed.');
    expect(refusal.hint).toBe(
      'To allow it, add this rule to the list "steward.allow" in your mcp.json: { "type": "npm", "name": "@acme/server-files" }',
    );
    planned(npmRecord('@acme/server-files', '1.0.0'), options({}, [ruleIn(refusal.hint)]));
  });

  it.each([
    ['mcpb', `https://acme.example/${'long-name/'.repeat(100)}a*b?.mcpb`],
    ['remote', 'https://{tenant}.acme.example/mcp?key=a**b&quote="'],
    ['oci', 'ghcr.io/acme/server'],
  ] as const)('offers a rule of %s that a config file may have', async (type, name) => {
    const other = { ...subject, type, name };
    const rule = ruleIn(checkAllowed([], other)?.hint ?? '');
    const { settings, problems } = await load([rule]);
    expect(problems).toEqual([]);
    expect(
      checkAllowed(INSTALL_SETTINGS_SCHEMA.parse({ allow: settings.steward?.allow }).allow, other),
    ).toBeUndefined();
    expect(checkAllowed([rule], { ...other, name: `${name}x` })).toBeDefined();
  });

  it('offers no rule for what cannot be installed anyway', () => {
    const nuget = npmRecord('Acme.Server', '1.0.0', { registryType: 'nuget' });
    expect(refused(nuget, options({}, [])).reason).toContain('.NET SDK');
  });

  it.each([
    [{ type: 'npm' }, true],
    [{ type: 'pypi' }, false],
    [{ scope: '@acme' }, true],
    [{ scope: '@acm' }, false],
    [{ name: '@acme/server-*' }, true],
    [{ name: '@acme/*' }, true],
    [{ name: '*' }, false],
    [{ name: '@*/server-files' }, true],
    [{ namespace: 'io.github.acme' }, true],
    [{ namespace: 'io.github.*' }, true],
    [{ namespace: 'io.github.acme', type: 'oci' }, false],
  ] as const)('%j: %s', (rule, allowed) => {
    expect(checkAllowed([rule], subject) === undefined).toBe(allowed);
  });

  it('a rule by namespace needs a verified one', () => {
    expect(checkAllowed([{ namespace: '*' }], { ...subject, verified: false })).toBeDefined();
  });

  it.each([{}, { name: '**' }, { name: 'a\n' }, { scope: 'acme' }, { type: 'nuget' }, { everything: true }])(
    'a file cannot have %j, which allows everything by mistake, or nothing',
    async (rule) => {
      const { settings, problems } = await load([{ type: 'npm' }, rule]);
      expect(problems[0]).toMatchObject({
        code: 'CONFIG_INVALID',
        data: { path: expect.stringMatching(/^steward\.allow\[1\]/) },
      });
      expect(settings.steward?.allow ?? []).not.toContainEqual(rule);
    },
  );
});

describe('S53: what the user has to know', () => {
  it('names an unknown age, namespace, similar names, scripts, deprecation and a missing sandbox', () => {
    const facts = {
      integrity: INTEGRITY,
      bin: { x: 'x.js' },
      hasInstallScripts: true,
      deprecated: 'use another',
    };
    const given = options({ facts, verified: false, similarTo: '@acme/server-files', sandbox: false });
    expect(planned(npmRecord('@acne/server-files', '1.0.0'), given).shown.warnings).toEqual([
      'the owner of the namespace io.github.acme has not been verified',
      'the name resembles that of @acme/server-files, which is better known',
      'the package has install scripts, which are not run; it may not work without them',
      'the package is deprecated: use another',
      'there is no sandbox: the server runs with all your rights',
      'the registry does not say when this version was published',
    ]);
    expect(planned(npmRecord('@acme/server-files', '1.0.0')).shown.warnings).toEqual([]);
  });

  it('takes exactly the package that was asked for, or none', () => {
    const record = npmRecord('@acme/server-files', '1.0.0');
    const wanted = { type: 'npm', identifier: '@acme/server-file', version: '1.0.0' } as const;
    expect(refused(record, options({ package: wanted })).reason).toContain(
      'has no package @acme/server-file',
    );
    expect(refused({ name: 'a/b', version: '1' }).reason).toContain('has no package or remote');
  });
});

describe('S55: names and versions', () => {
  it.each([
    'file:../x',
    'git+ssh://git@host/x.git',
    'https://host/x.tgz',
    'npm:other@1.0.0',
    '--registry=http://host',
    '-g',
    '../x',
    '/etc',
    'user/repo',
    '@scope',
    '@scope/',
    '@-x/y',
    '.hidden',
    '_x',
    'UPPER',
    'a b',
    'a\nb',
    'node_modules',
    'x@1.0.0',
    'é',
    '',
    'a'.repeat(215),
  ])('the name %j is refused', (identifier) => {
    expect(refused(npmRecord(identifier, '1.0.0'), options({}, ANY)).reason).toContain(
      'is not a valid npm package name',
    );
  });

  it.each([
    'latest',
    '^1.0.0',
    '~1.0.0',
    '1.x',
    '*',
    '1',
    '1.0',
    '>=1.0.0',
    '1.0.0 || 2.0.0',
    '1.0.0 - 2',
    'v1.0.0',
    '01.0.0',
    '1.0.0+build',
    'npm:x@1.0.0',
    '1.0.0 --flag',
    '',
    ' 1.0.0',
    '1.0.0\n',
  ])('the version %j is refused', (version) => {
    expect(refused(npmRecord('good', version)).reason).toContain('is not an exact version');
  });

  it.each([
    ['pypi', 'good==1.0', '1.0'],
    ['pypi', '--index-url', '1.0'],
    ['pypi', 'good', '>=1.0'],
    ['pypi', 'good @ https://host', '1.0'],
    ['pypi', 'good', '1.0+local'],
    ['oci', '--privileged', '1.0'],
    ['oci', 'ghcr.io/acme/x', 'latest'],
    ['oci', 'ghcr.io/acme/x', undefined],
    ['oci', 'ghcr.io/acme/x:1 -v /:/x', undefined],
    ['oci', 'ghcr.io/acme/../x', '1.0'],
    ['oci', 'x@sha256:123', undefined],
    ['mcpb', 'http://host/x.mcpb', '1.0'],
    ['mcpb', 'file:///x.mcpb', '1.0'],
    ['mcpb', 'https://user:pass@host/x.mcpb', '1.0'],
  ] as const)('%s %s %s is refused', (registryType, identifier, version) => {
    const [one] = npmRecord(identifier, '1.0.0').packages ?? [];
    const record = {
      name: 'a/b',
      version: '1.0.0',
      packages: one ? [{ ...one, registryType, version }] : [],
    };
    expect(refused(record, options({}, ANY)).reason).toContain('is refused because');
  });

  it('whatever passes is a plain name and a plain version', () => {
    const odd = fc.string({ unit: fc.constantFrom(...'@/.-_~:+=^ *\\\n\0aZ0é') });
    const likely = fc.stringMatching(
      /^-{0,2}(npm:|file:|git\+|@[a-z]{1,3}\/)?[a-z.]{0,5}(@|=|:)?[\d.^~*x-]{0,6}$/,
    );
    fc.assert(
      fc.property(fc.oneof(odd, likely, fc.string()), fc.oneof(odd, likely), (name, version) => {
        if (isNpmName(name)) expect(name).toMatch(/^(@[\w~.-]+\/)?[a-z0-9][\w~.-]*$/);
        if (isExactVersion(version)) expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.-]+)?$/);
        if (identifierFault('npm', name, version) !== undefined) return;
        const words = npmArguments('choose', { identifier: name, version });
        expect(words.indexOf('--')).toBe(words.length - 2);
        expect(words.at(-1)).toMatch(/^[a-z0-9@]/);
      }),
      { numRuns: 10_000 },
    );
  });

  it('no argument of a record becomes an option of node, uvx or docker', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('--require', '-e', '--', '--privileged', '-v=/:/x', '${HOME}'),
    );
    const argument = fc.oneof(
      fc.record({ type: fc.constant('positional' as const), value: text }),
      fc.record({ type: fc.constant('named' as const), name: text, value: text }),
    );
    const kinds = [
      ['npm', '@acme/x', '1.0.0'],
      ['pypi', 'good', '1.0'],
      ['oci', `ghcr.io/acme/x@sha256:${'a'.repeat(64)}`, undefined],
    ] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.array(argument),
        ([registryType, identifier, version], list) => {
          const one = { registryType, identifier, version, transport: { type: 'stdio' } };
          const bare = planned({ name: 'a/b', version: '1', packages: [one] }, options({}, ANY));
          const record = { name: 'a/b', version: '1', packages: [{ ...one, packageArguments: list }] };
          const plan = planInstall(record, options({}, ANY));
          if (isRefusal(plan)) return;
          // Ours come first, and are the same whatever the record adds.
          expect(plan.shown.command.slice(0, bare.shown.command.length)).toEqual(bare.shown.command);
          for (const word of fillEntry(plan.server, plan.inputs, {}).args as string[])
            expect(word.replaceAll('$${', '')).not.toContain('${');
          const runtime = { ...one, runtimeArguments: list };
          const second = planInstall({ name: 'a/b', version: '1', packages: [runtime] }, options({}, ANY));
          if (!isRefusal(second)) expect(second.shown.command).toEqual(bare.shown.command);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'PATH',
    'npm_config_registry',
    'DOCKER_HOST',
    'TURNBUCKLE_PASSPHRASE',
    'A=B',
    '',
  ])('a record cannot set the variable %j', (name) => {
    const record = npmRecord('@acme/x', '1.0.0', { environmentVariables: [{ name, value: 'x' }] });
    expect(refused(record).reason).toContain('environment variable');
  });
});

describe('S56: advisories', () => {
  it.each([
    ['npm', '@modelcontextprotocol/server-filesystem', '0.6.3', '2025.7.1', 'CVE-2025-53109'],
    ['npm', '@modelcontextprotocol/server-filesystem', '2025.3.28', '0.6.4', 'CVE-2025-53109'],
    ['pypi', 'mcp_server.git', '2025.9.25', '2026.1.14', 'CVE-2026-27735'],
    ['npm', '@modelcontextprotocol/server-postgres', '0.6.2', '0.6.3', 'server-postgres-read-only-escape'],
    ['npm', 'figma-developer-mcp', '0.6.2', '0.6.3', 'CVE-2025-53967'],
    ['npm', '@akoskm/create-mcp-server-stdio', '0.0.12', '0.0.13', 'CVE-2025-54994'],
    ['npm', 'postmark-mcp', '1.0.16', '1.0.15', 'postmark-mcp-2025-09'],
    ['npm', 'mcp-remote', '0.1.15', '0.1.16', 'CVE-2025-6514'],
    ['npm', 'mcp-remote', '0.1.16-rc.1', '0.1.16', 'CVE-2025-6514'],
  ] as const)('%s %s %s is refused, %s is not', (registryType, identifier, bad, good, id) => {
    const at = (version: string): InstallableRecord => ({
      name: 'a/b',
      version,
      packages: [{ registryType, identifier, version, transport: { type: 'stdio' } }],
    });
    expect(refused(at(bad), options({}, ANY)).advisory).toContain(id);
    planned(at(good), options({}, ANY));
  });

  it('names what is only suspicious, and knows those that it is given', () => {
    const warned = planned(npmRecord('postmark-mcp', '1.0.15'));
    expect(warned.shown.warnings.join()).toContain('postmark-mcp-2025-09');
    const own: Advisory = {
      id: 'OWN-1',
      type: 'npm',
      identifier: '@acme/x',
      text: 'bad',
      affected: [{ below: '2.0.0' }],
      level: 'refuse',
    };
    const advisories = [...KNOWN_ADVISORIES, own];
    expect(refused(npmRecord('@acme/x', '1.9.9'), options({ advisories })).advisory).toBe('OWN-1');
    expect(refused(npmRecord('mcp-remote', '0.1.0'), options({ advisories })).advisory).toBe('CVE-2025-6514');
  });

  it('compares versions', () => {
    const order = ['0.6.4', '1.0.0-a', '1.0.0-b', '1.0.0', '1.0.10', '2025.7.1', '2025.12.18'];
    expect([...order].reverse().sort(comparePackageVersions)).toEqual(order);
    expect(comparePackageVersions('2025.7.01', '2025.7.1')).toBe(0);
  });
});

describe('other kinds', () => {
  const record = (one: object): InstallableRecord => npmRecord('x', '1.0.0', one);

  it('PyPI packages are pinned and run by uvx, where it is installed', () => {
    const one = record({
      registryType: 'pypi',
      identifier: 'mcp-server-time',
      version: '2026.1.1',
      packageArguments: [{ type: 'named', name: '--zone', value: 'UTC' }],
    });
    expect(planned(one, options({}, ANY)).shown.command).toEqual([
      '/usr/bin/uvx',
      '--no-config',
      '--no-build',
      '--from',
      'mcp-server-time==2026.1.1',
      'mcp-server-time',
      '--zone=UTC',
    ]);
    const without = options({ programs: { node: '/usr/bin/node' } }, ANY);
    expect(refused(one, without)).toMatchObject({
      reason: expect.stringContaining('cannot be installed here, because uvx is not installed'),
      hint: expect.stringContaining('Install uv'),
    });
  });

  it('NuGet packages and packages that listen on a port are refused', () => {
    expect(refused(record({ registryType: 'nuget' }), options({}, ANY)).reason).toContain('.NET');
    expect(refused(record({ transport: { type: 'sse', url: 'http://localhost/' } })).reason).toContain(
      'only stdio',
    );
  });

  it('takes the first that can be installed, and gives all reasons if none can', () => {
    const packages = [
      ...(record({ registryType: 'nuget' }).packages ?? []),
      ...(npmRecord('@acme/x', '1.0.0').packages ?? []),
    ];
    expect(planned({ name: 'a/b', version: '1', packages }, options({}, ANY)).kind).toBe('npm');
    expect(refused({ name: 'a/b', version: '1', packages }, options({}, [{ type: 'oci' }])).reason).toMatch(
      /NET.*not allowed/,
    );
  });

  it('an entry has no empty lists and maps', () => {
    const local = planned(npmRecord('@acme/server-files', '1.2.3'));
    expect(fillEntry(local.server, local.inputs, {})).not.toHaveProperty('env');
    const optional = planned(record({ environmentVariables: [{ name: 'KEY' }] }), options({}, ANY));
    expect(fillEntry(optional.server, optional.inputs, {})).not.toHaveProperty('env');
    const remotes = [{ type: 'sse', url: 'https://acme.example/mcp' }];
    const { server, inputs } = planned({ name: 'a/b', version: '1', remotes }, options({}, ANY));
    expect(fillEntry(server, inputs, {})).toEqual({ type: 'sse', url: 'https://acme.example/mcp' });
    const bare = { type: 'stdio', command: '/usr/bin/uvx', args: [], env: {} } as const;
    expect(fillEntry(bare, [], {})).toEqual({ type: 'stdio', command: '/usr/bin/uvx' });
  });

  it('remote servers get an address and headers', () => {
    const remote = {
      type: 'streamable-http',
      url: 'https://{tenant}.acme.example/mcp',
      variables: { tenant: { description: 'Your tenant' } },
      headers: [
        {
          name: 'Authorization',
          value: 'Bearer {token}',
          isSecret: true,
          variables: { token: { isRequired: true } },
        },
        { name: 'X-Optional' },
      ],
    };
    const plan = planned({ name: 'a/b', version: '1', remotes: [remote] }, options({}, ANY));
    expect(plan.inputs.map(({ name, isSecret, isRequired }) => [name, isSecret, isRequired])).toEqual([
      ['tenant', false, true],
      ['token', true, true],
      ['X-Optional', false, false],
    ]);
    expect(fillEntry(plan.server, plan.inputs, { values: { tenant: 'one' } })).toEqual({
      type: 'http',
      url: 'https://one.acme.example/mcp',
      headers: { Authorization: 'Bearer ${secret:files.token}' },
    });
    for (const tenant of ['evil.example/', 'a@b', '${HOME}', 'x#', ''])
      expect(() => fillEntry(plan.server, plan.inputs, { values: { tenant } })).toThrow('tenant');
    for (const change of [
      { url: 'http://acme.example/' },
      { url: 'https://u:p@acme.example/' },
      { type: 'ws' },
      { headers: [{ name: 'Host', value: 'x' }] },
    ])
      expect(
        refused({ name: 'a/b', version: '1', remotes: [{ ...remote, ...change }] }, options({}, ANY)).reason,
      ).toContain('is refused because');
  });
});
