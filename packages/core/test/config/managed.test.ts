import { expect, it } from 'vitest';
import { findLayers } from '../../src/config/layers/layers.js';
import { loadConfig } from '../../src/config/load.js';
import { createSetting, type Setting } from './setting.js';

const trust = { isTrusted: async () => true };

/** Loads with a managed file of this test: only on Windows can its location be set. */
async function loadManaged(setting: Setting, managed: unknown, more: object = {}) {
  await setting.write('pd/turnbuckle/managed-mcp.json', managed);
  return loadConfig({
    cwd: setting.project,
    home: setting.home,
    platform: 'win32',
    environment: { APPDATA: `${setting.home}/app`, PROGRAMDATA: `${setting.home}/pd` },
    trust,
    ...more,
  });
}

const SERVERS = Object.fromEntries(
  ['corp-a', 'corp-b', 'a.b', 'axb', 'notes'].map((name) => [name, { command: name }]),
);

// requirement F1
it.each([
  [{ forbid: ['corp-*'] }, ['a.b', 'axb', 'notes']],
  [{ forbid: ['*'] }, []],
  [{ forbid: ['a.b'] }, ['corp-a', 'corp-b', 'axb', 'notes']],
  [{ forbid: ['*-a', 'no*s'] }, ['corp-b', 'a.b', 'axb']],
  [{ allowOnly: ['corp-*', 'notes'] }, ['corp-a', 'corp-b', 'notes']],
  [{ allowOnly: [] }, []],
  [{ allowOnly: ['corp-*'], forbid: ['corp-b'] }, ['corp-a']],
])('a server that the administrator forbids cannot be used: %j', async (managed, usable) => {
  const setting = await createSetting();
  await setting.write('app/turnbuckle/mcp.json', { servers: SERVERS });
  const { parsed } = await loadManaged(setting, managed);
  expect([...parsed.servers.keys()]).toEqual(usable);
  for (const [name, problem] of parsed.problems)
    expect(problem).toMatchObject({ code: 'CALL_DENIED', server: name });
});

it('takes precedence over files and servers that the program names', async () => {
  const setting = await createSetting();
  const file = await setting.write('mine.json', {
    servers: { one: { command: 'file' }, two: { command: 'file' } },
  });
  const extra = new Map([['one', { command: 'extra' }]]);
  const { servers } = await loadManaged(
    setting,
    { servers: { one: { command: 'managed' } } },
    { files: [file], extra },
  );
  expect(servers.get('one')).toMatchObject({
    config: { command: 'managed', scope: 'managed' },
    origin: { scope: 'managed' },
    shadowed: [{ file: 'the command line' }, { file }],
  });
  expect(servers.get('two')?.config).toMatchObject({ command: 'file' });
});

it('forbids names given by the program too', async () => {
  const setting = await createSetting();
  const extra = new Map([['corp-a', { command: 'x' }]]);
  const { parsed } = await loadManaged(setting, { forbid: ['corp-*'] }, { extra });
  expect([...parsed.problems.keys()]).toEqual(['corp-a']);
});

it('keeps forbidding when the file becomes unreadable', async () => {
  const setting = await createSetting();
  await setting.write('app/turnbuckle/mcp.json', { servers: SERVERS });
  const previous = await loadManaged(setting, { forbid: ['corp-*'] });
  const { parsed, problems } = await loadManaged(setting, '{ "forbid": [', { previous });
  expect([...parsed.servers.keys()]).toEqual(['a.b', 'axb', 'notes']);
  expect(problems).not.toEqual([]);
});

it.each([
  ['is not JSON', '{ "forbid": ['],
  ['has a wrong rule', '{ "forbid": "corp-*" }'],
  ['has a misspelt rule', '{ "forbidd": ["corp-*"] }'],
])('allows nothing as long as it is unknown what is forbidden: the file %s', async (_, text) => {
  const setting = await createSetting();
  await setting.write('app/turnbuckle/mcp.json', { servers: SERVERS });
  const { parsed, problems } = await loadManaged(setting, text);
  expect(parsed.servers.size).toBe(0);
  expect(problems).not.toEqual([]);
  expect([...parsed.problems.values()].every(({ code }) => code === 'CALL_DENIED')).toBe(true);
});

it.each([
  ['forbade nothing', {}, Object.keys(SERVERS)],
  ['forbade something', { forbid: ['corp-*'] }, ['a.b', 'axb', 'notes']],
])('keeps its previous content if it becomes invalid and %s', async (_, managed, usable) => {
  const setting = await createSetting();
  await setting.write('app/turnbuckle/mcp.json', { servers: SERVERS });
  let previous = await loadManaged(setting, managed);
  for (const text of ['{ "forbid": [', '', '[]', ' ']) {
    previous = await loadManaged(setting, text, { previous });
    expect([text, ...previous.parsed.servers.keys()]).toEqual([text, ...usable]);
  }
});

it('allows nothing after an invalid rule, until it is valid', async () => {
  const setting = await createSetting();
  await setting.write('app/turnbuckle/mcp.json', { servers: SERVERS });
  let previous = await loadManaged(setting, {});
  for (const text of ['{ "forbid": 7 }', '', '{ "forbid": [', ' ', '{ "allowOnli": [] }']) {
    previous = await loadManaged(setting, text, { previous });
    expect([text, ...previous.parsed.servers.keys()]).toEqual([text]);
  }
  const { parsed } = await loadManaged(setting, {}, { previous });
  expect([...parsed.servers.keys()]).toEqual(Object.keys(SERVERS));
});

it('is always the last layer', () => {
  const layers = findLayers({
    cwd: '/a',
    home: '/h',
    platform: 'linux',
    environment: { MCP_CONFIG_PATH: '/m.json' },
    files: ['/f.json'],
    exists: () => true,
  });
  expect(layers.at(-1)).toMatchObject({ scope: 'managed', file: '/etc/turnbuckle/managed-mcp.json' });
});
