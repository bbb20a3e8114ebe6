/** Uses up all file descriptors of its process, then prints the metrics. Started with a low limit. */
import { closeSync, openSync } from 'node:fs';
import { createRuntime } from 'turnbuckle';
import { CallLog } from '../../../store/dist/index.js';
import { createMetrics } from '../../dist/metrics/metrics.js';

const [directory] = process.argv.slice(2);
const runtime = await createRuntime({ stateDir: directory, servers: {} });
const log = new CallLog({ directory });
await log.flush();
const metrics = createMetrics(runtime, { log });
const before = metrics.text();
const taken = [];
try {
  for (;;) taken.push(openSync('/dev/null'));
} catch {
  // That was the last one.
}
let during;
try {
  during = metrics.text();
} catch (error) {
  during = String(error);
}
for (const file of taken) closeSync(file);
process.stdout.write(JSON.stringify({ before, during }));
metrics.close();
await log.close();
await runtime.close();
