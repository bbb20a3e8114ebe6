/** The inside of a worker thread that owns a database: runs the operations that its client asks for, in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { CLOSE, type ThreadOperations, type ThreadRequest, type ThreadResponse } from './thread-messages.js';

export interface ServedOperations {
  readonly operations: ThreadOperations;
  close(): void;
}

/** Call it once, at the top of the file of the thread. `open` gets the data of the client. */
export function serveThread<Data>(open: (data: Data) => Promise<ServedOperations>): void {
  const port = parentPort;
  if (port === null) throw new Error('This file must run in a worker thread.');
  const opened = open(workerData as Data);
  // Reported with each answer.
  opened.catch(() => {});
  const reply = async ({ number, operation, values }: ThreadRequest): Promise<ThreadResponse> => {
    try {
      const { operations, close } = await opened;
      if (operation === CLOSE) return { number, value: close() };
      const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      if (run === undefined) throw new Error(`There is no operation "${operation}".`);
      return { number, value: run(...values) };
    } catch (error) {
      return { number, error: error instanceof Error ? error.message : String(error) };
    }
  };
  port.on('message', async (request: ThreadRequest) => {
    port.postMessage(await reply(request));
    if (request.operation === CLOSE) port.close();
  });
}
