// Holds the write lock of the database for a while, as another process that is slow. Prints a line once it has the lock.
import { writeSync } from 'node:fs';
import { openStewardDatabase } from '../../dist/queue/steps.js';

const [file, ms] = process.argv.slice(2);
const database = await openStewardDatabase(file);
database.transaction(() => {
  writeSync(1, 'locked\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
});
database.close();
