import { describe, expect, it } from 'vitest';
import { parseServers } from '../../../core/src/config/layers/parse.js';
import { CLIENTS, readClientConfig, writeClientConfig } from '../../src/imports/index.js';
import { FIXTURES } from './fixture-table.js';
import { readFixture } from './read-fixture.js';

// requirement F2
describe.each(FIXTURES)('$file', ({ client, file, project, servers, skipped = [], notes = {} }) => {
  const text = readFixture(file);
  const result = readClientConfig(client, text, { file, ...(project === undefined ? {} : { project }) });
  const configs = Object.fromEntries(result.servers.map(({ name, config }) => [name, config]));

  it('imports the expected servers', () => {
    expect(configs).toEqual(servers);
    expect(result.problems).toEqual([]);
  });

  it('skips entries that cannot be expressed, with a reason', () => {
    expect(result.skipped.map(({ name }) => name)).toEqual(skipped);
    for (const { reason } of result.skipped) expect(reason).not.toBe('');
  });

  it('loses no key silently', () => {
    for (const [name, words] of Object.entries(notes)) {
      const joined = result.servers.find((server) => server.name === name)?.notes.join('; ');
      for (const word of words) expect(joined, name).toContain(word);
    }
    for (const { name, notes: given, extra = {} } of result.servers)
      for (const key of Object.keys(extra)) expect(given.join('; '), name).toContain(key);
  });

  it('gives servers that the runtime accepts', () => {
    const { problems } = parseServers(configs);
    expect([...problems.values()].map(String)).toEqual([]);
  });

  it('is unchanged after its own servers are written into it', () => {
    const written = writeClientConfig({ client, file }, text, result.servers);
    const again = readClientConfig(client, written.text ?? '', {
      file,
      ...(project === undefined ? {} : { project }),
    });
    const noted = new Set([...written.notes, ...written.skipped].map(({ name }) => name));
    expect(written.problems).toEqual([]);
    for (const { name, config, project: folder } of result.servers) {
      if (noted.has(name) || folder !== undefined) continue;
      expect(again.servers.find((server) => server.name === name)?.config).toEqual(config);
    }
  });
});

it('has a fixture for every client', () => {
  const shown = new Set([...FIXTURES.map(({ client }) => client), 'claude-agents']);
  expect(CLIENTS.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
});
