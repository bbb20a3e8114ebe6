// A server over stdio that never answers to lists of resources and prompts. It writes the file MARK when it is asked.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const RESULTS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: 'mute', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'resources/list' || method === 'prompts/list') writeFileSync(process.env.MARK, method);
  else process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} })}\n`);
});
