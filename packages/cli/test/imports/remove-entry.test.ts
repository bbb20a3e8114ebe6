import { describe, expect, it } from 'vitest';
import { clientById, removeEntry } from '../../src/imports/index.js';

const clientOf = (id: string) => {
  const client = clientById(id);
  if (client === undefined) throw new Error(`unknown client ${id}`);
  return client;
};
const remove = (id: string, text: string) =>
  removeEntry({ client: clientOf(id), file: '/home/ada/file' }, text, 'turnbuckle');

describe('removing a server from a file', () => {
  it.each([
    ['{"mcpServers":{"turnbuckle":{"url":"x"}}}', '{"mcpServers":{}}'],
    ['\uFEFF{"mcpServers":{"a":{},"turnbuckle":{}}}', '\uFEFF{"mcpServers":{"a":{}}}'],
    [
      '{\n  // mine\n  "mcpServers": {\n    "turnbuckle": { "url": "x" },\n    "b": {}, // too\n  },\n}\n',
      '{\n  // mine\n  "mcpServers": {\n    "b": {}, // too\n  },\n}\n',
    ],
    [
      '{\n  "mcpServers": {\n    "a": {}, // first\n    "turnbuckle": {\n      "url": "x"\n    }\n  }\n}\n',
      '{\n  "mcpServers": {\n    "a": {} // first\n  }\n}\n',
    ],
    [
      '{\r\n  "mcpServers": {\r\n    "turnbuckle": {} // ours\r\n  }\r\n}\r\n',
      '{\r\n  "mcpServers": {}\r\n}\r\n',
    ],
    ['{"mcpServers": {"a": {}, "turnbuckle": {}, "b": {}}}', '{"mcpServers": {"a": {}, "b": {}}}'],
    ['{"mcpServers": {"a": {}, "turnbuckle": {} }, "x": 1}', '{"mcpServers": {"a": {} }, "x": 1}'],
  ])('keeps the rest of %j unchanged', (before, after) => {
    expect(remove('cursor', before)?.text).toBe(after);
  });

  it.each([
    ['cursor', ''],
    ['cursor', '{}'],
    ['cursor', '{"mcpServers":{"other":{}}}'],
    ['cursor', '{"mcpServers":[]}'],
    ['codex', 'model = "x"\n'],
    ['goose', 'extensions: {}\n'],
  ])('finds no entry in a file without it: %s %j', (id, text) => {
    expect(remove(id, text)).toEqual({});
  });

  it.each([
    ['codex', '[mcp_servers.turnbuckle]\nurl = "x"\n'],
    ['goose', 'extensions:\n  turnbuckle:\n    uri: x\n'],
  ])('finds but does not remove it where comments could be lost: %s', (id, text) => {
    expect(remove(id, text)).toEqual({ entry: expect.anything() });
  });

  it('does not edit a broken file', () => {
    expect(remove('cursor', '{ "mcpServers": ')).toBeUndefined();
  });
});
