// Makes calls, several at once, until it is killed, and prints the id of each one that was answered.
import { CallLog } from '@turnbuckle/store';
import { createRuntime } from 'turnbuckle';
import { recordCalls } from '../../dist/log/call-log.js';
import { recordServers } from '../../dist/log/server-log.js';

const [directory, stateDir, round] = process.argv.slice(2);
const AT_ONCE = 8;
const runtime = await createRuntime({ stateDir, servers: {} });
runtime.registerTool({
  name: 'work',
  inputSchema: { type: 'object' },
  run: async ({ text }) => {
    await new Promise((resolve) => setImmediate(resolve));
    return `${text} done`;
  },
});
const log = new CallLog({ directory });
recordCalls(runtime, log);
recordServers(runtime, log);

let count = 0;
const work = async () => {
  for (;;) {
    count += 1;
    const requestId = `${round}-${count}`;
    await runtime.call({ tool: 'work', arguments: { text: 'x'.repeat(count % 500) }, requestId });
    process.stdout.write(`${requestId}\n`);
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, work));
