// A server over stdio that answers to every prompt, and lists one with a long name. Its tool is named like its KEY.
import { createInterface } from 'node:readline';

const ABOUT = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, prompts: {} },
  serverInfo: { name: 'any', version: '1' },
};
const RESULTS = {
  initialize: ABOUT,
  'tools/list': {
    tools: [{ name: process.env.KEY ?? 'none', inputSchema: { type: 'object' } }],
  },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
  'prompts/list': { prompts: [{ name: 'listed' }, { name: 'n'.repeat(4_000) }] },
  'prompts/get': { messages: [] },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} })}\n`);
});
