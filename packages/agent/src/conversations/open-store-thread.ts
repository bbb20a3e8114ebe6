import { ThreadClient } from '@turnbuckle/store';
import type { OpenStoreOptions, StoreOperations } from './agent-store.js';

/** Starts the thread; its first operation waits until the database is open. */
export const openStoreThread = (
  data: OpenStoreOptions,
  onFailure: (error: Error) => void,
): ThreadClient<StoreOperations> =>
  new ThreadClient<StoreOperations>({ file: threadFile(), data, onFailure });

/** The built file, also when running from sources: a thread cannot load TypeScript. */
function threadFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? '../../dist/conversations/store-thread.js' : './store-thread.js',
    import.meta.url,
  );
}
