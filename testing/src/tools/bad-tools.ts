import type { JsonObject } from '../kernel/json.js';

const object = { type: 'object' };

function withProperty(name: string, property: JsonObject): JsonObject {
  return { name, description: name, inputSchema: { ...object, properties: { value: property } } };
}

function nest(depth: number): JsonObject {
  let schema: JsonObject = { type: 'string' };
  for (let level = 0; level < depth; level += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

function createWideSchema(bytes: number): JsonObject {
  const properties: JsonObject = {};
  const property = { type: 'string', description: 'x'.repeat(100) };
  for (let index = 0; index * 140 < bytes; index += 1) properties[`property${index}`] = property;
  return { ...object, properties };
}

/** Entries that no client can use, by kind: not a tool at all, or a tool that the protocol forbids. */
export function createBadTools(): Record<string, unknown[]> {
  return {
    'not-an-object': [null, 42, 'tool', ['tool']],
    'no-name': [{ description: 'nameless', inputSchema: object }],
    'name-not-a-string': [{ name: 7, inputSchema: object }],
    'empty-name': [{ name: '', inputSchema: object }],
    'no-schema': [{ name: 'bad_no_schema', description: 'no inputSchema' }],
    'schema-not-an-object': [
      { name: 'bad_schema_string', inputSchema: 'object' },
      { name: 'bad_schema_array', inputSchema: [object] },
      { name: 'bad_schema_type', inputSchema: { type: 'string' } },
    ],
    'deep-schema': [{ name: 'bad_deep_schema', inputSchema: nest(2_000) }],
    'big-schema': [{ name: 'bad_big_schema', inputSchema: createWideSchema(300 * 1024) }],
    'invalid-header': [
      withProperty('bad_header_space', { type: 'string', 'x-mcp-header': 'two words' }),
      withProperty('bad_header_empty', { type: 'string', 'x-mcp-header': '' }),
      withProperty('bad_header_newline', { type: 'string', 'x-mcp-header': 'A\r\nEvil: yes' }),
      withProperty('bad_header_number', { type: 'number', 'x-mcp-header': 'Amount' }),
      withProperty('bad_header_in_items', {
        type: 'array',
        items: { type: 'string', 'x-mcp-header': 'Item' },
      }),
    ],
    'unknown-dialect': [
      { name: 'bad_dialect', inputSchema: { $schema: 'https://example.invalid/dialect', type: 'object' } },
    ],
  };
}

/** Entries that are valid tools but need care: names, sizes, references, patterns. */
export function createOddTools(): Record<string, unknown[]> {
  return {
    duplicate: [
      { name: 'odd_duplicate', description: 'the first', inputSchema: object },
      { name: 'odd_duplicate', description: 'the second', inputSchema: object },
    ],
    'network-ref': [
      withProperty('odd_network_ref', { $ref: 'http://127.0.0.1:9/schema.json' }),
      withProperty('odd_metadata_ref', { $ref: 'http://169.254.169.254/latest/meta-data/' }),
    ],
    'cyclic-ref': [
      { name: 'odd_cyclic_ref', inputSchema: { ...object, properties: { self: { $ref: '#' } } } },
    ],
    redos: [withProperty('odd_redos', { type: 'string', pattern: '^(a+)+$' })],
    'invalid-pattern': [withProperty('odd_invalid_pattern', { type: 'string', pattern: '([' })],
    'big-description': [
      { name: 'odd_big_description', description: 'd'.repeat(200 * 1024), inputSchema: object },
    ],
    names: [
      'odd name with spaces',
      'odd/slash.dot:colon',
      'odd__double__underscore',
      'odd-żółć-🦀',
      'odd\u001b[31mred\u001b[0m',
      'odd\u202Ebidi',
      '__proto__',
      'constructor',
      `odd_${'n'.repeat(196)}`,
    ].map((name) => ({ name, description: 'odd name', inputSchema: object })),
    'control-characters': [
      {
        name: 'odd_ansi',
        description: '\u001b[2J\u001b[31mred\u0007 \u{e0041}\u{e0042} \u202e',
        inputSchema: object,
      },
    ],
  };
}
