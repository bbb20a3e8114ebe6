/**
 * Loads once for all concurrent and later callers. A failure rejects those who wait and is then forgotten: the next
 * caller tries again, so that a temporary failure needs no restart.
 */
export function retryableOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    if (loaded !== undefined) return loaded;
    const loading = attempt(load);
    loaded = loading;
    loading.catch(() => {
      if (loaded === loading) loaded = undefined;
    });
    return loading;
  };
}

/** Turns a synchronous exception into a rejection. */
async function attempt<T>(load: () => Promise<T>): Promise<T> {
  return load();
}
