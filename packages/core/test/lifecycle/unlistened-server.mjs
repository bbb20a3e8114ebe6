// A modern server that declares list changes and answers `subscriptions/listen` with the error code
// of its first argument. Its tool `listens` returns how often it got that request.
import { createInterface } from 'node:readline';

const [code = '-32601'] = process.argv.slice(2);
let listens = 0;
const RESULTS = {
  'server/discover': () => ({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true } },
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'unlistened', version: '1.0.0' } },
  }),
  'tools/list': () => ({
    resultType: 'complete',
    tools: [{ name: 'listens', inputSchema: { type: 'object' } }],
  }),
  'tools/call': () => ({ resultType: 'complete', content: [{ type: 'text', text: String(listens) }] }),
};

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    if (method === 'subscriptions/listen') listens += 1;
    const result = RESULTS[method]?.();
    const outcome = result ? { result } : { error: { code: Number(code), message: 'no such thing' } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
  })
  .on('close', () => process.exit(0));
