// A server whose tools return their arguments: `take` has an argument of each type, `choose` and `odd` have required ones.
// `say` returns text with terminal escapes and hidden characters.
import { createInterface } from 'node:readline';

const TAKE = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    number: { type: 'number' },
    integer: { type: 'integer' },
    flag: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    counts: { type: 'array', items: { type: 'integer' } },
    box: { type: 'object' },
    level: { enum: [1, 2, 3] },
    either: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    pointed: { $ref: '#/$defs/id' },
    loose: {},
  },
  $defs: { id: { type: 'string' } },
};
const TOOLS = [
  { name: 'take', description: 'Answers its arguments', inputSchema: TAKE },
  {
    name: 'say',
    description: 'Hidden \u202ereversed\u001b[31m text',
    inputSchema: { type: 'object', properties: {} },
  },
  {
    name: 'choose',
    description: 'Needs one of two words',
    inputSchema: {
      type: 'object',
      properties: { level: { enum: ['quiet', 'loud'], description: 'How loud' } },
      required: ['level'],
    },
  },
  {
    name: 'odd',
    description: 'Needs arguments with names that mean something to others',
    inputSchema: {
      type: 'object',
      properties: {
        'a=\u001b[31mb': { type: 'string' },
        constructor: { type: 'string' },
        mood: { enum: ['\u202egood', '\u009b2J'] },
      },
      required: ['a=\u001b[31mb', 'constructor'],
    },
  },
];
const HOSTILE = '\u001b[2Jcleared \u202ereversed\u200b \u{e0041}tag';

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'arguments', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ name, arguments: args }) => ({
    content: [{ type: 'text', text: name === 'say' ? HOSTILE : JSON.stringify(args) }],
  }),
};

process.stderr.write('argument-server: ready for anything\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const body =
    answer === undefined
      ? { error: { code: -32601, message: 'Method not found' } }
      : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
}
