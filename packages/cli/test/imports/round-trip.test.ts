import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENTS, readClientConfig, type ServerDraft, writeClientConfig } from '../../src/imports/index.js';
import { FIXTURES } from './fixture-table.js';
import { readFixture } from './read-fixture.js';

const variable = fc.constantFrom('TOKEN', 'A_B', '_x9', 'workspaceFolder', 'HOME');
const placeholder = fc.oneof(
  variable.map((name) => `\${${name}}`),
  variable.map((name) => `\${env:${name}}`),
  fc.tuple(variable, fc.constantFrom('', 'x', '/a b', `\${HOME}`)).map(([name, other]) => `\${${name}:-${other}}`),
  fc.constantFrom('token', 'my-key').map((id) => `\${input:${id}}`),
  fc.constantFrom('token', 'A.b').map((name) => `\${secret:${name}}`),
  fc.constant(`\${userHome}`),
);
/** Includes what other clients would take for a placeholder, and what needs quoting in some format. */
const awkward = fc.constantFrom('$', '$HOME', '$(date)', '{env:X}', '{file:x}', `$\${A}`, '}', '"', "'", '\\', '\n', '#', ': ', '$env:X', '${{ secrets.X }}', '✓', '__proto__');
const plain = fc.string({ unit: 'grapheme-ascii', maxLength: 8 });
const text = fc.array(fc.oneof({ weight: 3, arbitrary: plain }, placeholder, awkward), { maxLength: 3 }).map((parts) => parts.join(''));

const key = fc.oneof(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/), fc.constantFrom('__proto__', 'constructor', 'X-Y.z'));
const texts = fc.dictionary(key, text, { maxKeys: 3 });
const tools = fc.array(fc.stringMatching(/^[a-z_]{1,6}$/), { minLength: 1, maxLength: 2 });
const milliseconds = fc.integer({ min: 1, max: 86_400_000 });
const shared = {
  enabled: fc.constant(false),
  description: plain.filter((words) => words !== ''),
  connectTimeoutMs: milliseconds,
  callTimeoutMs: milliseconds,
  includeTools: tools,
  excludeTools: tools,
};
const stdio = fc.record(
  {
    type: fc.constant('stdio' as const),
    command: fc.constantFrom('node', '/usr/bin/my server', `\${workspaceFolder}/run`, 'C:\\tools\\run.exe'),
    args: fc.array(text, { minLength: 1, maxLength: 3 }),
    env: texts.filter((map) => Object.keys(map).length > 0),
    inheritEnv: fc.constant(['LANG']),
    cwd: fc.constantFrom('/srv', `\${userHome}/x`),
    ...shared,
  },
  { requiredKeys: ['type', 'command'] },
);
const remote = fc.record(
  {
    type: fc.constantFrom('http' as const, 'sse' as const),
    url: fc.constantFrom('https://a.example.com/mcp', `https://\${HOST}/mcp?k=\${KEY}`, 'http://127.0.0.1:3000/'),
    headers: texts.filter((map) => Object.keys(map).length > 0),
    ...shared,
  },
  { requiredKeys: ['type', 'url'] },
);
const name = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9 ._/"'-]{0,10}[a-z0-9]$/),
  fc.constantFrom('constructor', 'toString', 'servers', 'type', 'ünï', '1'),
);
const servers = fc.uniqueArray(fc.tuple(name, fc.oneof(stdio, remote)), { maxLength: 4, selector: ([each]) => each });

/** `${env:X}` and `${X}` are the same to us. */
function unified(config: ServerDraft): unknown {
  return JSON.parse(JSON.stringify(config).replaceAll(/\$\{env:(?!workspaceFolder|userHome)(\w+)\}/g, '${$1}'));
}

const targets = [
  ...CLIENTS.filter(({ format }) => format !== 'frontmatter').map(({ id }) => ({ client: id, into: 'nothing' })),
  ...FIXTURES.map(({ client, file }) => ({ client, into: file })),
  { client: 'generic', into: 'nothing' },
];

describe.each(targets)('$client, written into $into', ({ client, into }) => {
  const before = into === 'nothing' ? undefined : readFixture(into);
  const kept = before === undefined ? [] : readClientConfig(client, before).servers;

  it('reads back what it wrote without a note', () => {
    fc.assert(
      fc.property(servers, (random) => {
        const outgoing = random.map(([each, config]) => ({ name: `t-${each}`, config }));
        const written = writeClientConfig(client, before, outgoing);
        expect(written.problems).toEqual([]);
        const again = readClientConfig(client, written.text || '{}');
        const noted = new Set([...written.notes, ...written.skipped].map((item) => item.name));
        const found = new Map(again.servers.map((server) => [server.name, server.config]));
        for (const { name: each, config } of outgoing) {
          if (!noted.has(each)) expect(unified(found.get(each) ?? { type: 'stdio' })).toEqual(unified(config));
        }
        for (const server of kept) expect(found.get(server.name)).toEqual(server.config);
        const missing = outgoing.filter((item) => !found.has(item.name)).map((item) => item.name);
        const excused = [...written.skipped, ...again.skipped].map((item) => item.name);
        expect(missing.filter((item) => !excused.includes(item))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
