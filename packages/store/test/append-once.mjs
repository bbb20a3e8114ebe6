// Appends three records like a command that makes three calls, then ends.
import { CallJournal } from '../dist/index.js';

const [directory, name] = process.argv.slice(2);
const journal = new CallJournal({ directory });
for (const number of [1, 2, 3])
  journal.append({
    id: `${name}-${number}`,
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
await journal.close();
