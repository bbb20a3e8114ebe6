/**
 * Loads once for all who ask, also at the same time. A failure is told to those who waited for it and then
 * forgotten: the next one who asks tries again, so that trouble that passes needs no restart.
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

/** What throws at once rejects like everything else. */
async function attempt<T>(load: () => Promise<T>): Promise<T> {
  return load();
}
