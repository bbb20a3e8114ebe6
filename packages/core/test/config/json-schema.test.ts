import { readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
import { jsonSchema } from 'turnbuckle/host';
import { Compile } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../src/json/is-record.js';
import { createSetting } from './setting.js';

const validator = Compile(await jsonSchema());

const server = (entry: unknown): unknown => ({ servers: { one: entry } });

const GOOD: Record<string, unknown> = {
  nothing: {},
  'a schema': { $schema: './x.json' },
  'no servers': { servers: {}, mcpServers: {} },
  'a program': server({ command: 'x' }),
  'all keys of a program': server({
    type: 'stdio',
    command: 'x',
    args: ['a'],
    env: { K: 'v' },
    cwd: 'y',
    inheritEnv: ['CA'],
    description: 'd',
    enabled: true,
    start: 'lazy',
    trusted: true,
    requires: ['a'],
    era: 'modern',
    connectTimeoutMs: 1,
    listTimeoutMs: 1,
    callTimeoutMs: 1,
    maxCallMs: 1,
    includeTools: ['a'],
    excludeTools: ['b'],
    maxInFlight: 1,
    pingMs: 0,
    reconnect: { initialMs: 1, factor: 1.5, maxMs: 1, tries: 0, probeMs: 0, jitter: 0.5 },
  }),
  'an address': server({ url: 'https://h/mcp', headers: { A: 'b' } }),
  'an address in capitals': server({ url: 'HTTPS://H/mcp' }),
  'an address with a placeholder': server({ url: '${BASE}/mcp' }),
  'a socket': server({ url: 'wss://h/mcp' }),
  'another spelling': server({ type: 'streamable-http', url: 'https://h' }),
  'the other key': server({ transport: 'http', url: 'https://h' }),
  'both keys': server({ transport: 'http', type: 'http', url: 'https://h' }),
  'an old one': server({ type: 'sse', url: 'https://h' }),
  'a hosted one': server({ type: 'claudeai-proxy', baseUrl: 'https://h', id: 'x', token: 't' }),
  'a hosted one without a type': server({ baseUrl: 'https://h', id: '${ID}' }),
  mcpServers: { mcpServers: { one: { command: 'x' } } },
  'a list': {
    servers: [
      { name: 'one', command: 'x' },
      { id: 'two', url: 'https://h' },
      { name: 'three', baseUrl: 'https://h', id: 'x' },
      { name: 'four', id: 'x', command: 'x' },
      { name: 'five', id: 'x', transport: 'claudeai-proxy', url: 'https://h' },
      { name: 'weak', id: 'x', enabled: false },
    ],
  },
  'a list of mcpServers': { mcpServers: [{ name: 'one', command: 'x' }] },
  'an adjustment': { servers: { weak: { enabled: false } } },
  'an adjustment of several keys': { servers: { weak: { callTimeoutMs: 5, excludeTools: ['a'] } } },
  'an adjustment in a list': { servers: [{ name: 'weak', start: 'lazy' }] },
  settings: { naming: 'server_tool', describePrefix: true, subAgentEnabled: false },
  'settings of a user': {
    toolApprovalRequired: true,
    autoDiscoveryEnabled: false,
    secretCommand: ['op', 'read', '{name}'],
  },
  inputs: {
    inputs: [{ id: 'a' }, { id: 'b', type: 'pickString', options: ['x'], password: true, default: 'x' }],
  },
};

const BAD: Record<string, unknown> = {
  'a list at the root': [],
  'a string at the root': 'x',
  'an unknown key': { serverz: {} },
  'servers as a string': { servers: 'x' },
  'servers as null': { servers: null },
  'a server as a string': server('npx'),
  'a server as null': server(null),
  'an unknown key of a server': server({ command: 'x', argz: [] }),
  'a key of another transport': server({ url: 'https://h', args: [] }),
  'a misspelt command': server({ comand: 'x' }),
  'an unknown transport': server({ type: 'carrier-pigeon', url: 'https://h' }),
  'a transport without its key': server({ type: 'http' }),
  'a transport with the key of another': server({ type: 'http', command: 'x' }),
  'a server in process': server({ type: 'in-process', server: {} }),
  'a command of a wrong type': server({ command: ['x'] }),
  'an empty command': server({ command: '' }),
  'arguments as a string': server({ command: 'x', args: 'a' }),
  'an argument as a number': server({ command: 'x', args: [1] }),
  'a variable as a number': server({ command: 'x', env: { K: 1 } }),
  'no address': server({ url: 'nowhere' }),
  'a wrong scheme': server({ url: 'ftp://h' }),
  'a web address for a socket': server({ type: 'websocket', url: 'https://h' }),
  'an id with a slash': server({ baseUrl: 'https://h', id: '../x' }),
  'a negative time': server({ command: 'x', callTimeoutMs: -1 }),
  'half a millisecond': server({ command: 'x', callTimeoutMs: 0.5 }),
  'more than a day': server({ command: 'x', callTimeoutMs: 86_400_001 }),
  'an unknown start': server({ command: 'x', start: 'never' }),
  'an unknown key further down': server({ command: 'x', reconnect: { retries: 1 } }),
  'a list without names': { servers: [{ command: 'x' }] },
  'a list with a number as id': { servers: [{ name: 'a', id: 5, command: 'x' }] },
  'the url of a proxy that is not named as one': server({ type: 'http', url: 'https://h', id: 'x' }),
  'a list of strings': { servers: ['x'] },
  'a list with an unknown key': { servers: [{ name: 'a', command: 'x', argz: [] }] },
  'an unknown naming': { naming: 'dots' },
  'an input without an id': { inputs: [{}] },
  'an unknown key of an input': { inputs: [{ id: 'a', secret: true }] },
  'an unknown type of an input': { inputs: [{ id: 'a', type: 'x' }] },
  'an empty command for secrets': { secretCommand: [] },
};

/** Whether loading finds no fault. A file of lower precedence has the server `weak`, so that it can be adjusted. */
async function isLoadable(document: unknown): Promise<boolean> {
  const setting = await createSetting();
  await setting.write(setting.userFile, { servers: { weak: { command: 'x' } } });
  const file = await setting.write('mine.json', JSON.stringify(document));
  const { problems, parsed } = await setting.load({ files: [file] });
  return problems.length === 0 && parsed.problems.size === 0;
}

// requirement F4
describe('the JSON Schema and the loader agree', () => {
  it.each(Object.entries(GOOD))('that this is valid: %s', async (_, document) => {
    expect(validator.Errors(document)).toEqual([true, []]);
    expect(await isLoadable(document)).toBe(true);
  });

  it.each(Object.entries(BAD))('that this is invalid: %s', async (_, document) => {
    expect(validator.Check(document)).toBe(false);
    expect(await isLoadable(document)).toBe(false);
  });
});

it('is JSON, of draft 2020-12, and closed in every object that it describes', async () => {
  const schema = await jsonSchema();
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  let objects = 0;
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!isRecord(node)) return;
    if (node.type === 'object' && isRecord(node.properties)) {
      objects += 1;
      // A map that also has the key "*" is closed if its entries are.
      const isMap = Object.keys(node.properties).join() === '*';
      expect(node.additionalProperties).toEqual(
        isMap ? expect.objectContaining({ additionalProperties: false }) : false,
      );
    }
    if (typeof node.pattern === 'string') expect(() => new RegExp(String(node.pattern), 'u')).not.toThrow();
    Object.values(node).forEach(visit);
  };
  visit(schema);
  expect(objects).toBeGreaterThan(10);
});

it('accepts the examples of the documentation', () => {
  const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/```jsonc\n(.*?)```/gs)].map(([, text]): unknown => parse(text ?? ''));
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(validator.Errors(example)).toEqual([true, []]);
});
