/** One line on the terminal that says what is going on. It gives way to other lines and to questions. */
import { cutToWidth } from './display-width.js';

export interface Spinner {
  /** Shown while the work takes longer than a moment, gone with its end. */
  during<T>(text: string, work: Promise<T>): Promise<T>;
  /** How far the work is, behind the text. */
  progress(text: string): void;
  /** Frees the line for something else; the next turn draws it again. */
  clear(): void;
  /** Stays away until the question is answered. */
  stepAside<T>(question: () => Promise<T>): Promise<T>;
}

export const PATIENCE_MS = 700;
const TURN_MS = 80;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const USUAL_COLUMNS = 80;

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
    terminal.write(`\r${cutToWidth(line, (terminal.columns || USUAL_COLUMNS) - 1)}\u001b[K`);
    isDrawn = true;
  };
  return {
    clear,
    progress: (text) => {
      done = text;
    },
    during: (text, work) => {
      done = '';
      let ticker: NodeJS.Timeout | undefined;
      const timer = setTimeout(() => {
        ticker = setInterval(() => draw(text), TURN_MS);
      }, PATIENCE_MS);
      return work.finally(() => {
        clearTimeout(timer);
        clearInterval(ticker);
        clear();
      });
    },
    stepAside: async (question) => {
      questions += 1;
      clear();
      return question().finally(() => {
        questions -= 1;
      });
    },
  };
}
