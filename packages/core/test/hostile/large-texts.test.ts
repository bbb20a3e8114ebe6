import { createRuntime, type RuntimeEvents } from 'turnbuckle';
import { expect, it, onTestFinished } from 'vitest';

/** Answers every call with an error of 2 MB, after log messages of almost 1 MB. */
const VERBOSE_SERVER = `
const big = 'key=value&'.repeat(200_000);
const long = 'key=value&'.repeat(90_000);
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize')
    return say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
  if (method === 'tools/list') return say({ id, result: { tools: [{ name: 'talk', inputSchema: { type: 'object' } }] } });
  if (method !== 'tools/call') return id === undefined ? undefined : say({ id, error: { code: -32601, message: 'no' } });
  say({ method: 'notifications/message', params: { level: 'error', data: long } });
  say({ method: 'notifications/message', params: { level: 'error', data: { long } } });
  say({ method: 'notifications/message', params: { level: 'error', data: { small: 1 } } });
  say({ id, error: { code: -32000, message: big, data: { big } } });
});`;

it('long texts of a server are kept only as far as they can be searched for secrets in time', async () => {
  const runtime = await createRuntime({
    servers: { talker: { command: process.execPath, args: ['-e', VERBOSE_SERVER], era: 'legacy' } },
  });
  onTestFinished(() => runtime.close());
  const notices: RuntimeEvents['server.notice'][] = [];
  runtime.on('server.notice', (event) => notices.push(event));
  const error = await runtime.callTool('talker', 'talk').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'SERVER_ERROR', data: { rpc: { code: -32000 } } });
  const { rpc } = (error as { data: { rpc: { message: string; data?: unknown } } }).data;
  expect(rpc.message).toBe('key=value&'.repeat(200_000).slice(0, 64 * 1_024));
  expect(rpc.data).toBeUndefined();
  expect(notices.map(({ data }) => (typeof data === 'string' ? data.length : data))).toEqual([
    16 * 1_024 + 1,
    16 * 1_024 + 1,
    { small: 1 },
  ]);
});
