/** The thread of the daemon that owns its connection to the queue. */
import { serveThread } from '@turnbuckle/store';
import { createQueueOperations } from './queue-operations.js';
import { openStewardDatabase } from './steps.js';

export interface QueueThreadData {
  readonly file: string;
}

serveThread(async ({ file }: QueueThreadData) => {
  const database = await openStewardDatabase(file);
  return { operations: { ...createQueueOperations(database) }, close: () => database.close() };
});
