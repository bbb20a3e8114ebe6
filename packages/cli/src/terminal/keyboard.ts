/** One key at a time from the terminal, without Enter. */

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';
export const ENTER = '\r';
export const ESCAPE = '\u001b';

/** While it is open, keys are not shown and come one by one. Ctrl-C ends the command as it does otherwise. */
export interface Keyboard {
  /** The next key; undefined when the signal is aborted. */
  next(signal: AbortSignal): Promise<string | undefined>;
  /** Throws away what was typed before anybody could know what it would answer. */
  discardInput(forMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function openKeyboard(stdin: NodeJS.ReadStream = process.stdin): Keyboard {
  let take: ((key: string) => void) | undefined;
  const onData = (chunk: Buffer): void => {
    const keys = chunk.toString('utf8');
    // In this mode the terminal sends it as a key. It is meant whenever it comes, and whatever came with it.
    if (keys.includes(CTRL_C)) {
      process.emit('SIGINT', 'SIGINT');
      take?.(CTRL_C);
    }
    // Pasted text and the keys that send several characters are no answer.
    else if ([...keys].length === 1) take?.(keys === '\n' ? ENTER : keys);
  };
  stdin.setRawMode(true);
  stdin.on('data', onData);
  stdin.resume();
  const wait = (signal: AbortSignal, forMs?: number): Promise<string | undefined> =>
    new Promise((resolve) => {
      const timer = forMs === undefined ? undefined : setTimeout(() => done(undefined), forMs);
      const onAbort = (): void => done(undefined);
      const done = (key: string | undefined): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        take = undefined;
        resolve(key);
      };
      take = (key) => {
        if (forMs === undefined) done(key);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) done(undefined);
    });
  return {
    next: (signal) => wait(signal),
    discardInput: async (forMs, signal) => void (await wait(signal, forMs)),
    close: () => {
      stdin.off('data', onData);
      stdin.pause();
      stdin.setRawMode(false);
    },
  };
}
