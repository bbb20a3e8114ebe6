// Appends records for as long as it lives and says each one that is acknowledged.
import { Journal } from '../dist/index.js';

const [directory, first] = process.argv.slice(2);
const journal = new Journal({ directory, durability: 'process', segmentBytes: 4_096 });
for (let number = Number(first); ; number += 1) {
  journal.append({
    id: `call-${number}`,
    startedAt: Date.now(),
    durationMs: 1,
    server: 's',
    tool: 't',
    toolName: 's__t',
    kind: 'tool',
    argumentsBytes: 0,
    resultBytes: 0,
    outcome: 'ok',
    attempts: 1,
  });
  process.stdout.write(`${number}\n`);
  if (number % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
}
