/** Runs a function of the host's: what it throws, or its promise rejects with, goes to `onFailure` and nowhere else. */
export function contain(work: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const made = work();
    if (typeof made === 'object' && made !== null && 'then' in made)
      Promise.resolve(made).then(undefined, onFailure);
  } catch (error) {
    onFailure(error);
  }
}
