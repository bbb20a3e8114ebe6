/** The system's clock, which a person or a time server can set while a program runs. Timers do not notice. */
export interface MovableClock {
  /** Moves it by so many milliseconds; a negative number sets it back. */
  move(ms: number): void;
  restore(): void;
}

/** Takes the place of `Date.now`. Install it before the code that keeps a reference to that function. */
export function movableClock(): MovableClock {
  const systemNow = Date.now;
  let movedMs = 0;
  Date.now = () => systemNow() + movedMs;
  return {
    move: (ms) => {
      movedMs += ms;
    },
    restore: () => {
      Date.now = systemNow;
    },
  };
}
