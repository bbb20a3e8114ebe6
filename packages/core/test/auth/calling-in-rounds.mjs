// A program in which each of several callers calls a tool once per round. Argument: one JSON text
// { stateDir, url, callers }. Each line on stdin starts a round: { aheadMs } sets its clock ahead. Answers each with one
// line: what failed, and how long the slowest call took.
import { createInterface } from 'node:readline';
import { createRuntime } from 'turnbuckle';

const { stateDir, url, callers } = JSON.parse(process.argv[2]);
let aheadMs = 0;
const runtime = await createRuntime({
  servers: { web: { type: 'http', url, connectTimeoutMs: 60_000 } },
  stateDir,
  environment: {},
  now: () => Date.now() + aheadMs,
});

async function callOnce() {
  const started = performance.now();
  const { failure } = await runtime.execute('mcp__web__echo', { text: 'hi' });
  return { failure: failure && `${failure.code} ${failure.message}`, tookMs: performance.now() - started };
}

await runtime.connectAll();
process.stdout.write('{"ready":true}\n');
for await (const line of createInterface({ input: process.stdin })) {
  ({ aheadMs } = JSON.parse(line));
  const calls = await Promise.all(Array.from({ length: callers }, callOnce));
  const failures = calls.flatMap(({ failure }) => failure ?? []);
  const slowestMs = Math.max(...calls.map(({ tookMs }) => tookMs));
  process.stdout.write(`${JSON.stringify({ failures, slowestMs })}\n`);
}
await runtime.close();
process.exit(0);
