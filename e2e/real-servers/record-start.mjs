// Loaded before a server's own script (node --import): one line for each process that was started.
import { appendFileSync } from 'node:fs';

if (process.env.TURNBUCKLE_START_LOG !== undefined) {
  appendFileSync(process.env.TURNBUCKLE_START_LOG, `${process.pid}\n`);
}
