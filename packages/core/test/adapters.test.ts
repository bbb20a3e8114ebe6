import { describe, expect, it } from 'vitest';
import {
  type AdaptableTool,
  toAiSdkModelOutput,
  toAiSdkTools,
  toAnthropicToolResult,
  toAnthropicTools,
  toGeminiFunctionResponse,
  toGeminiTools,
  toOpenAiFunctionCallOutput,
  toOpenAiToolMessage,
  toOpenAiTools,
  toToolCall,
} from '../src/adapters/index.js';

const tool = (inputSchema: Record<string, unknown>, more: Partial<AdaptableTool> = {}): AdaptableTool => ({
  name: 'mcp__files__read',
  description: 'Reads a file.',
  inputSchema,
  ...more,
});

const read = tool({
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Where.', minLength: 1 },
    lines: { type: 'integer', minimum: 1, default: 10 },
    mode: { enum: ['text', 'binary'] },
  },
  required: ['path'],
});

const strict = (schema: Record<string, unknown>) =>
  toOpenAiTools([tool(schema)], { strict: true })[0]?.function;
const anthropic = (schema: Record<string, unknown>) => toAnthropicTools([tool(schema)])[0];
const gemini = (schema: Record<string, unknown>) => toGeminiTools([tool(schema)])[0]?.functionDeclarations[0];
const geminiProperties = (x: unknown) =>
  gemini({ type: 'object', properties: { x } })?.parameters?.properties;
const strictProperties = (x: unknown) =>
  strict({ type: 'object', properties: { x }, required: ['x'] })?.parameters.properties;

const tree = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/Node' } },
  $defs: {
    Node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/Node' } } },
  },
};

// requirement T11
describe('OpenAI tools', () => {
  it('passes a valid schema on, nested for chat and flat for responses', () => {
    const parameters = { type: 'object', properties: read.inputSchema.properties, required: ['path'] };
    const definition = { name: 'mcp__files__read', description: 'Reads a file.', parameters, strict: false };
    expect(toOpenAiTools([read])).toEqual([{ type: 'function', function: definition }]);
    expect(toOpenAiTools([read], { api: 'responses' })).toEqual([{ type: 'function', ...definition }]);
  });

  it('closes objects, requires everything and makes optional nullable in strict mode', () => {
    expect(toOpenAiTools([read], { strict: true })[0]?.function).toEqual({
      name: 'mcp__files__read',
      description: 'Reads a file.',
      strict: true,
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'Where. (minLength: 1)' },
          lines: { type: ['integer', 'null'], minimum: 1, description: '(default: 10)' },
          mode: { type: ['string', 'null'], enum: ['text', 'binary', null] },
        },
        required: ['path', 'lines', 'mode'],
        additionalProperties: false,
      },
    });
  });

  it.each([
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a free-form object', { type: 'object' }],
    ['anything', {}],
    ['an open object', { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true }],
    ['too many enum values', { enum: Array.from({ length: 1001 }, (_, i) => `v${i}`) }],
    ['a long enum', { enum: Array.from({ length: 251 }, (_, i) => `${i}`.padStart(100, '0')) }],
  ])('does not claim strict for %s', (_, schema) => {
    const built = strict({ type: 'object', properties: { x: schema } });
    expect(built?.strict).toBe(false);
    expect(built?.parameters).toEqual({ type: 'object', properties: { x: schema } });
  });

  it('keeps references of recursive schemas when strict is impossible', () => {
    expect(strict(tree)).toMatchObject({ strict: false, parameters: tree });
  });

  it.each([
    ['a supported format', { type: 'string', format: 'uuid' }, { type: 'string', format: 'uuid' }],
    [
      'an unsupported format',
      { type: 'string', format: 'uri' },
      { type: 'string', description: '(format: "uri")' },
    ],
    [
      'look-ahead',
      { type: 'string', pattern: '^(?!a)' },
      { type: 'string', description: '(pattern: "^(?!a)")' },
    ],
    ['const', { const: 'a' }, { type: 'string', enum: ['a'] }],
    [
      'allOf',
      {
        allOf: [
          { type: 'number', minimum: 1 },
          { maximum: 9, minimum: 3 },
        ],
      },
      { type: 'number', minimum: 3, maximum: 9 },
    ],
    [
      'oneOf with null',
      { description: 'Id.', oneOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
      { description: 'Id.', anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    ],
    [
      'a draft 7 tuple',
      { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
      {
        type: 'array',
        description: 'Items in this order: string, number.',
        items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
    ],
    [
      'a draft 4 bound',
      { type: 'number', minimum: 0, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 0 },
    ],
  ])('writes %s in strict terms', (_, schema, expected) => {
    expect(strictProperties(schema)).toEqual({ x: expected });
  });

  it('needs no parameters for a tool without any', () => {
    const empty = { type: 'object', properties: {}, additionalProperties: false };
    expect(strict({ type: 'object' })).toMatchObject({ strict: true, parameters: empty });
  });
});

describe('Anthropic tools', () => {
  it('passes a valid schema on, including references', () => {
    expect(anthropic(tree)).toEqual({
      name: 'mcp__files__read',
      description: 'Reads a file.',
      input_schema: tree,
    });
  });

  it('describes a root anyOf of `required` lists in the description', () => {
    const built = anthropic({
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' } },
      anyOf: [{ required: ['id'] }, { required: ['name'] }],
    });
    expect(built?.input_schema).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' } },
    });
    expect(built?.description).toBe('Reads a file. Must match one of: { id: any } | { name: any }');
  });

  it('merges a root union of objects', () => {
    const built = anthropic({
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'a' }, x: { type: 'number' } },
          required: ['kind', 'x'],
        },
        { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
      ],
    });
    expect(built?.input_schema).toEqual({
      type: 'object',
      properties: {
        kind: {
          anyOf: [
            { type: 'string', enum: ['a'] },
            { type: 'string', enum: ['b'] },
          ],
        },
        x: { type: 'number' },
      },
      required: ['kind'],
    });
    expect(built?.description).toContain('{ kind: "a", x: number } | { kind: "b" }');
  });

  it('follows a root reference and wraps a root that is not an object', () => {
    const defs = { $defs: { A: { type: 'object', properties: { a: { type: 'string' } } } } };
    expect(anthropic({ $ref: '#/$defs/A', ...defs })?.input_schema.properties).toEqual({
      a: { type: 'string' },
    });
    expect(anthropic({ type: 'array', items: { type: 'string' } })?.input_schema).toEqual({
      type: 'object',
      properties: { input: { type: 'array', items: { type: 'string' } } },
      required: ['input'],
    });
  });

  it('renames parameters that the API rejects', () => {
    const built = anthropic({
      type: 'object',
      properties: { 'filter[id]': { type: 'string' } },
      required: ['filter[id]'],
    });
    expect(built?.input_schema).toEqual({
      type: 'object',
      properties: { filter_id_: { type: 'string', description: '(named filter[id])' } },
      required: ['filter_id_'],
    });
  });
});

describe('Gemini tools', () => {
  it.each([
    ['null in a type list', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    ['a string enum', { enum: ['a'] }, { type: 'STRING', format: 'enum', enum: ['a'] }],
    ['a number enum', { enum: [1, 2] }, { type: 'NUMBER', description: '(enum: [1,2])' }],
    [
      'an enum with an empty string',
      { enum: ['', 'a'] },
      { type: 'STRING', description: '(enum: ["","a"])' },
    ],
    ['date-time', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    ['uri', { type: 'string', format: 'uri' }, { type: 'STRING', description: '(format: "uri")' }],
    ['int64', { type: 'integer', format: 'int64' }, { type: 'INTEGER', format: 'int64' }],
    ['counts', { type: 'string', minLength: 2 }, { type: 'STRING', minLength: '2' }],
    [
      'exclusive bounds',
      { type: 'number', exclusiveMinimum: 2 },
      { type: 'NUMBER', description: '(exclusiveMinimum: 2)' },
    ],
    ['properties without a type', { properties: { a: true } }, expect.objectContaining({ type: 'OBJECT' })],
    [
      'a map',
      { type: 'object', additionalProperties: { type: 'number' } },
      { type: 'OBJECT', description: '(additionalProperties: "number")' },
    ],
    [
      'a described union',
      { description: 'Id.', anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
      { anyOf: [{ type: 'STRING', nullable: true, description: 'Id.' }, { type: 'INTEGER' }] },
    ],
  ])('writes %s', (_, schema, expected) => {
    expect(geminiProperties(schema)).toEqual({ x: expected });
  });

  it('inlines references and bounds recursion', () => {
    const text = JSON.stringify(gemini(tree));
    expect(text).not.toContain('$ref');
    expect(text.match(/"name":\{"type":"STRING"\}/g)).toHaveLength(2);
    expect(text).toContain('Same shape as Node.');
  });

  it('requires only declared properties, and omits empty parameters', () => {
    const built = gemini({
      type: 'object',
      properties: { a: false, b: { type: 'string' } },
      required: ['a', 'b'],
    });
    expect(built?.parameters).toMatchObject({ required: ['b'] });
    expect(gemini({ type: 'object', properties: {} })).toEqual({
      name: 'mcp__files__read',
      description: 'Reads a file.',
    });
    expect(toGeminiTools([])).toEqual([]);
  });

  it('uses JSON Schema if requested', () => {
    const [built] = toGeminiTools([read], { dialect: 'json-schema' });
    expect(built?.functionDeclarations[0]?.parametersJsonSchema).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where. (minLength: 1)' },
        lines: { type: 'integer', description: '(default: 10)', minimum: 1 },
        mode: { type: 'string', enum: ['text', 'binary'] },
      },
      required: ['path'],
    });
  });
});

describe('calls from a model', () => {
  it('finds the tool of a renamed function', () => {
    const tools = [tool({ type: 'object' }, { name: 'a.b' }), tool({ type: 'object' }, { name: 'a b' })];
    const names = toAnthropicTools(tools).map(({ name }) => name);
    expect(new Set(names).size).toBe(2);
    expect(names.map((name) => toToolCall(tools, { name, input: {} })?.name)).toEqual(['a.b', 'a b']);
    expect(toToolCall(tools, { name: 'unknown', input: {} })).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>, unknown, unknown]>([
    ['drops null for an omitted argument', read.inputSchema, { path: 'x', lines: null }, { path: 'x' }],
    [
      'keeps null if the schema allows it',
      { properties: { a: { type: ['string', 'null'] } } },
      { a: null },
      { a: null },
    ],
    ['unwraps', { type: 'array', items: { type: 'string' } }, { input: ['x'] }, ['x']],
    [
      'restores parameter names',
      { type: 'object', properties: { $top: { type: 'number' } } },
      { _top: 1 },
      { $top: 1 },
    ],
    [
      'restores names in lists and unions',
      {
        properties: {
          list: {
            items: { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'string' }] },
          },
        },
      },
      { list: [{ a: null }, 'x'] },
      { list: [{}, 'x'] },
    ],
  ])('%s', (_, schema, input, expected) => {
    const one = tool(schema);
    expect(toToolCall([one], { name: one.name, input })).toEqual({ name: one.name, arguments: expected });
  });
});

describe('results', () => {
  const png = { type: 'image', mimeType: 'image/png', data: 'aGk=' };
  const mixed = {
    content: [
      { type: 'text', text: 'hello' },
      png,
      { type: 'audio', mimeType: 'audio/wav', data: 'aGk=' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'body' } },
      { type: 'resource', resource: { uri: 'file:///b', mimeType: 'application/pdf', blob: 'aGk=' } },
      { type: 'resource_link', uri: 'file:///c', name: 'c' },
    ],
  };
  const failed = { content: [{ type: 'text', text: 'no' }, png], isError: true };
  const structured = { content: [], structuredContent: { a: 1 } };

  it('OpenAI chat: one text', () => {
    expect(toOpenAiToolMessage('1', mixed)).toEqual({
      role: 'tool',
      tool_call_id: '1',
      content:
        'hello\n[image/png, 3 bytes]\n[audio/wav, 3 bytes]\nfile:///a\nbody\n[application/pdf, 3 bytes]\nc file:///c',
    });
    expect(toOpenAiToolMessage('1', failed).content).toBe('Error: no\n[image/png, 3 bytes]');
    expect(toOpenAiToolMessage('1', structured).content).toBe('{"a":1}');
    expect(toOpenAiToolMessage('1', { content: [] }).content).toBe('(no output)');
  });

  it('OpenAI responses: images and files next to text', () => {
    const { output } = toOpenAiFunctionCallOutput('1', mixed);
    expect(output).toEqual([
      { type: 'input_text', text: 'hello' },
      { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
      { type: 'input_text', text: '[audio/wav, 3 bytes]' },
      { type: 'input_text', text: 'file:///a\nbody' },
      { type: 'input_file', filename: 'result.pdf', file_data: 'data:application/pdf;base64,aGk=' },
      { type: 'input_text', text: 'c file:///c' },
    ]);
    expect(toOpenAiFunctionCallOutput('1', structured).output).toBe('{"a":1}');
  });

  it('Anthropic: blocks, and only text for an error', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    expect(toAnthropicToolResult('1', mixed).content[1]).toEqual({ type: 'image', source });
    expect(toAnthropicToolResult('1', mixed).content[4]).toMatchObject({ type: 'document' });
    expect(toAnthropicToolResult('1', failed)).toEqual({
      type: 'tool_result',
      tool_use_id: '1',
      content: [
        { type: 'text', text: 'no' },
        { type: 'text', text: '[image/png, 3 bytes]' },
      ],
      is_error: true,
    });
  });

  it('Gemini: output or error, media as parts', () => {
    const call = { id: '7', name: 't' };
    expect(toGeminiFunctionResponse(call, structured)).toEqual({
      functionResponse: { id: '7', name: 't', response: { output: { a: 1 } } },
    });
    expect(toGeminiFunctionResponse(call, failed).functionResponse.response).toEqual({
      error: 'no\n[image/png, 3 bytes]',
    });
    const { parts } = toGeminiFunctionResponse(call, mixed).functionResponse;
    expect(parts?.map((part) => part.inlineData.mimeType)).toEqual(['image/png', 'application/pdf']);
    const both = { content: [{ type: 'text', text: 'so' }], structuredContent: { a: 1 } };
    expect(toGeminiFunctionResponse(call, both).functionResponse.response).toEqual({ output: 'so\n{"a":1}' });
    const schema = { structuredContent: { $ref: '#/a' } };
    expect(toGeminiFunctionResponse(call, schema).functionResponse.response).toEqual({
      output: '{"$ref":"#/a"}',
    });
  });

  it('AI SDK: text, content or error', () => {
    expect(toAiSdkModelOutput(failed)).toEqual({ type: 'error-text', value: 'no\n[image/png, 3 bytes]' });
    expect(toAiSdkModelOutput({ content: [png] })).toEqual({
      type: 'content',
      value: [{ type: 'image-data', mediaType: 'image/png', data: 'aGk=' }],
    });
    expect(toAiSdkModelOutput('plain')).toEqual({ type: 'text', value: 'plain' });
    const told = { content: [{ type: 'text', text: '{ "a": 1 }' }], structuredContent: { a: 1 } };
    expect(toAiSdkModelOutput(told)).toEqual({ type: 'text', value: '{ "a": 1 }' });
  });
});

describe('AI SDK tools', () => {
  it('executes the tool by its catalog name, with restored arguments and the caller’s signal', async () => {
    const seen: unknown[] = [];
    const odd = tool({ type: 'object', properties: { $top: { type: 'number' } } }, { name: 'odd.name' });
    const tools = toAiSdkTools([odd], async (...call) => seen.push(call));
    const { signal } = new AbortController();
    await tools.odd_name?.execute({ _top: 1 }, { abortSignal: signal });
    expect(seen).toEqual([['odd.name', { $top: 1 }, { signal }]]);
  });

  it('marks its schemas as the SDK expects', () => {
    const schema: object | undefined = toAiSdkTools([read], async () => null).mcp__files__read?.inputSchema;
    expect(schema).toMatchObject({ [Symbol.for('vercel.ai.schema')]: true, jsonSchema: { type: 'object' } });
    expect(schema).toHaveProperty('validate', undefined);
  });
});
