// The parts of a daemon that belong to the steward, until it is killed.
import { QueueClient } from '../../dist/queue/queue-client.js';
import { createWorkerPool } from '../../dist/workers/worker-pool.js';

const [database, directory, steps] = process.argv.slice(2);
const client = new QueueClient({ file: database });
createWorkerPool({
  database,
  steps,
  settings: { directory },
  workers: [['modify_server'], ['modify_server']],
  releaseOwner: (worker) => client.releaseOwner(worker),
});
