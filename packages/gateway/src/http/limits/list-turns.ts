/** Large lists are built one at a time: many at once would not fit into memory. */
import { writeInSlices } from 'turnbuckle/host';
import type { RequestContext } from '../request-context.js';
import { sendWithinLimit } from '../response.js';
import { FairQueue } from './fair-queue.js';

/** Lists that are built or queued: each costs as much as many calls. */
const MAX_QUEUED_LISTS = 256;
const OWNER_LIST_CONCURRENCY = 4;

/**
 * A server may take long: nobody else waits for it. Each list is written before the next one is built, so that one
 * exists at a time, and none for a client that has left.
 */
export function createListTurns() {
  const turns = new FairQueue({
    what: 'lists',
    max: MAX_QUEUED_LISTS,
    ownerConcurrency: OWNER_LIST_CONCURRENCY,
  });
  return <Found>(
    find: (context: RequestContext) => Promise<Found>,
    make: (found: Found) => Promise<object>,
  ) =>
    async (context: RequestContext): Promise<undefined> => {
      const found = await find(context);
      return turns.run(context.identity, async () => {
        if (!context.signal.aborted) sendWithinLimit(context, 200, await writeInSlices(await make(found)));
        return undefined;
      });
    };
}

export type ListTurns = ReturnType<typeof createListTurns>;
