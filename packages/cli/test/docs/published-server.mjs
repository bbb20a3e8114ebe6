// Replaces a published server: has its tools, prompts and resources from published.json, with their required
// arguments. e2e/real-servers checks that published.json matches the published servers.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const published = JSON.parse(readFileSync(new URL('published.json', import.meta.url), 'utf8'));
const { tools, prompts = {}, resources = [] } = published[process.argv[2]];

const text = (value) => [{ type: 'text', text: JSON.stringify(value) }];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: process.argv[2], version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, required]) => ({
      name,
      description: `The tool ${name}`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(required.map((key) => [key, {}])),
        required,
      },
    })),
  }),
  'tools/call': ({ arguments: args }) => ({ content: text(args) }),
  'prompts/list': () => ({
    prompts: Object.entries(prompts).map(([name, required]) => ({
      name,
      arguments: required.map((key) => ({ name: key, required: true })),
    })),
  }),
  'prompts/get': ({ name, arguments: args }) =>
    name in prompts && { messages: [{ role: 'user', content: text(args)[0] }] },
  'resources/list': () => ({ resources: resources.map((uri) => ({ uri, name: uri })) }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) => resources.includes(uri) && { contents: [{ uri, text: uri }] },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params ?? {});
  const body = result ? { result } : { error: { code: -32602, message: `No ${method} for that` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
}
