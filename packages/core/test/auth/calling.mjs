// A program with several concurrent callers that call a tool repeatedly until it is told to stop. Argument: one
// JSON text { stateDir, url, callers, pauseMs }. Answers with one line: how many calls, and what failed.
import { setTimeout as delay } from 'node:timers/promises';
import { createRuntime } from 'turnbuckle';

const { stateDir, url, callers, pauseMs } = JSON.parse(process.argv[2]);
const server = { type: 'http', url, connectTimeoutMs: 60_000 };
const runtime = await createRuntime({ servers: { web: server }, stateDir, environment: {} });
let stopped = false;
process.stdin.once('data', () => {
  stopped = true;
});
process.stdin.once('end', () => {
  stopped = true;
});
const failures = [];
let calls = 0;

async function callRepeatedly() {
  while (!stopped) {
    const { success, failure } = await runtime.execute('mcp__web__echo', { text: 'hi' });
    calls += 1;
    if (!success) failures.push(`${failure?.code} ${failure?.message}`);
    // Random pauses: each caller meets the expiry of the token at a different moment.
    await delay(pauseMs * (0.5 + Math.random()));
  }
}

await runtime.connectAll();
process.stdout.write('ready\n');
await Promise.all(Array.from({ length: callers }, callRepeatedly));
await runtime.close();
process.stdout.write(`${JSON.stringify({ calls, failures })}\n`);
process.exit(0);
