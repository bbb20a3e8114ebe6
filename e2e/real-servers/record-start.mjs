// Loaded before a server's own script (node --import): writes one line for each started process.
import { appendFileSync } from 'node:fs';

if (process.env.TURNBUCKLE_START_LOG !== undefined) {
  appendFileSync(process.env.TURNBUCKLE_START_LOG, `${process.pid}\n`);
}
