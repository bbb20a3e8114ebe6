// A legacy stdio server that lists the definitions of the given JSON file unchanged.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const tools = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'listed-tools', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: args }) => ({
    content: [{ type: 'text', text: `${name} got ${JSON.stringify(args).length} characters` }],
    structuredContent: args,
  }),
};

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = ANSWERS[method];
    if (answer === undefined) write({ id, error: { code: -32601, message: `no ${method}` } });
    else write({ id, result: answer(params ?? {}) });
  })
  .on('close', () => process.exit(0));
