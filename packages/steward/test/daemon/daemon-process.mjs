// A daemon with the steward in a process of its own; prints its address and its token, and ends with stdin.
// node daemon-process.mjs <place as JSON>
// SIGUSR2: prints the delay of its event loop since the last time, as p99 in milliseconds.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startDaemon } from '@turnbuckle/gateway';
import { createStewardPart } from '../../dist/index.js';

const place = JSON.parse(process.argv[2] ?? '{}');
const daemon = await startDaemon({
  version: '0.0.0',
  ...place,
  port: 0,
  parts: [createStewardPart({ cwd: place.cwd })],
});
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
process.on('SIGUSR2', () => {
  // What is measured includes the interval itself.
  process.stdout.write(`${JSON.stringify({ p99: delay.percentile(99) / 1e6 - 5 })}\n`);
  delay.reset();
});
// The first signal may come at once.
process.stdout.write(`${JSON.stringify({ url: daemon.url, token: daemon.token })}\n`);
// Its parent may have died without stopping it.
process.stdin.on('end', () => process.exit(0)).resume();
