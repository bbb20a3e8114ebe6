// Appends records until it is killed, and prints the id of each one that is acknowledged.
import { Journal } from '../dist/index.js';

const [directory, name, until] = process.argv.slice(2);
const segmentBytes = until === 'until-refused' ? undefined : 4_096;
const journal = new Journal({ directory, durability: 'process', segmentBytes });
for (let number = 1; ; number += 1) {
  const id = `${name}-${number}`;
  try {
    const record = {
      id,
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
    };
    journal.append(JSON.stringify(record));
  } catch (error) {
    process.stdout.write(`refused: ${error.message}\n`);
    break;
  }
  process.stdout.write(`${id}\n`);
  if (number % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
}
