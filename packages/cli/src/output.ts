/** The one place that writes: results to stdout, everything else to stderr, colour on a terminal only. */
import { stripVTControlCharacters } from 'node:util';
import { createColors } from 'picocolors';
import { escapeHidden } from './untrusted-text.js';

type Colors = ReturnType<typeof createColors>;

export interface Output {
  readonly json: boolean;
  /** A person sits there: stdin and stderr are a terminal. */
  readonly interactive: boolean;
  readonly color: Colors;
  /** A line of the result. */
  line(text?: string): void;
  /** The whole result, for programs. */
  data(value: unknown): void;
  /** For people only: what was done, what comes next. Nothing with --json. */
  note(text: string): void;
  /** What must not be missed: errors and warnings, with --json too. */
  warn(text: string): void;
  /** Shows that something is going on while it takes more than a moment; ends by itself. */
  during<T>(text: string, work: Promise<T>): Promise<T>;
}

export interface OutputOptions {
  readonly json: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const PATIENCE_MS = 700;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function createOutput({ json, environment }: OutputOptions): Output {
  const wanted = !environment.NO_COLOR && environment.TERM !== 'dumb';
  const color = createColors(wanted && process.stdout.isTTY === true && !json);
  const spinner = process.stderr.isTTY === true && !json;
  // The colours are those of stdout; stderr may go to a file all the same.
  const warn = (text: string): void =>
    void process.stderr.write(`${process.stderr.isTTY ? text : stripVTControlCharacters(text)}\n`);
  return {
    json,
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true && !json,
    color,
    line: (text = '') => void process.stdout.write(`${text}\n`),
    data: (value) => void process.stdout.write(`${escapeHidden(JSON.stringify(value, null, 2))}\n`),
    note: (text) => {
      if (!json) warn(text);
    },
    warn,
    during: (text, work) => (spinner ? spin(text, work) : say(text, work, json)),
  };
}

/** Not a terminal: one line if it takes long, nothing otherwise. */
async function say<T>(text: string, work: Promise<T>, json: boolean): Promise<T> {
  const timer = setTimeout(() => {
    if (!json) process.stderr.write(`${text} …\n`);
  }, PATIENCE_MS);
  return work.finally(() => clearTimeout(timer));
}

async function spin<T>(text: string, work: Promise<T>): Promise<T> {
  let frame = 0;
  let ticker: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    ticker = setInterval(() => {
      frame = (frame + 1) % FRAMES.length;
      process.stderr.write(`\r${FRAMES[frame]} ${text} `);
    }, 80);
  }, PATIENCE_MS);
  return work.finally(() => {
    clearTimeout(timer);
    if (ticker === undefined) return;
    clearInterval(ticker);
    process.stderr.write('\r\u001b[K');
  });
}
