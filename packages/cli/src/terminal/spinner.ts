/** A progress line on the terminal. Other output and prompts clear it. */
import { truncateToWidth } from './display-width.js';
import { terminalWidth } from './terminal-width.js';

export interface Spinner {
  /** Shown while the work takes longer than a moment, gone with its end. */
  showWhile<T>(text: string, work: Promise<T>): Promise<T>;
  /** How far the work is, behind the text. */
  progress(text: string): void;
  /** Frees the line for something else; the next turn draws it again. */
  clear(): void;
  /** Stays away until the question is answered. */
  pauseFor<T>(question: () => Promise<T>): Promise<T>;
}

export const SPINNER_DELAY_MS = 700;
const FRAME_INTERVAL_MS = 80;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function createSpinner(terminal: NodeJS.WriteStream): Spinner {
  let done = '';
  let turn = 0;
  let questions = 0;
  let isDrawn = false;
  const clear = (): void => {
    if (isDrawn) terminal.write('\r\u001b[K');
    isDrawn = false;
  };
  const draw = (text: string): void => {
    if (questions > 0) return;
    turn = (turn + 1) % FRAMES.length;
    const line = `${FRAMES[turn]} ${text}${done === '' ? '' : `  ${done}`}`;
    // One column stays free: a full line would make the terminal go on to the next.
    terminal.write(`\r${truncateToWidth(line, terminalWidth(terminal) - 1)}\u001b[K`);
    isDrawn = true;
  };
  return {
    clear,
    progress: (text) => {
      done = text;
    },
    showWhile: (text, work) => {
      done = '';
      let ticker: NodeJS.Timeout | undefined;
      const timer = setTimeout(() => {
        ticker = setInterval(() => draw(text), FRAME_INTERVAL_MS);
      }, SPINNER_DELAY_MS);
      return work.finally(() => {
        clearTimeout(timer);
        clearInterval(ticker);
        clear();
      });
    },
    pauseFor: async (question) => {
      questions += 1;
      clear();
      return question().finally(() => {
        questions -= 1;
      });
    },
  };
}
