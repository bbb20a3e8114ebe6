/** The one place that writes: results to stdout, everything else to stderr, colour on a terminal only. */
import { stripVTControlCharacters } from 'node:util';
import { createColors } from 'picocolors';
import { createCommandRewriter } from './command-prefix.js';
import { createSpinner, SPINNER_DELAY_MS } from './spinner.js';
import { terminalWidth } from './terminal-width.js';
import { escapeHidden, sanitizeLine } from './untrusted-text.js';
import { wrapLines } from './wrap-text.js';

type Colors = ReturnType<typeof createColors>;

export interface Output {
  readonly json: boolean;
  /** A person sits there: stdin and stderr are a terminal. */
  readonly interactive: boolean;
  readonly color: Colors;
  /** How many columns a line of the result may take: those of the terminal, any number elsewhere. */
  readonly width: number;
  /** A line of the result. */
  line(text?: string): void;
  /** The whole result, for programs. */
  data(value: unknown): void;
  /** The text with the commands that it names as they are called here. Notes and warnings are spelled anyway. */
  rewriteCommands(text: string): string;
  /** For people only: what was done, what comes next. Nothing with --json. */
  note(text: string): void;
  /** What must not be missed: errors and warnings, with --json too. */
  warn(text: string): void;
  /** A line of a log: like a warning, but while a question is open it waits for the answer. */
  log(text: string): void;
  /** Shows that something is going on while it takes more than a moment; ends by itself. */
  withSpinner<T>(text: string, work: Promise<T>): Promise<T>;
  /** How far that is. On a terminal only. */
  progress(text: string): void;
  /** Asks something while it is going on; nothing else is drawn meanwhile. */
  ask<T>(question: () => Promise<T>): Promise<T>;
}

export interface OutputOptions {
  readonly json: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The names of all commands. */
  readonly commands: readonly string[];
}

export function createOutput({ json, environment, commands }: OutputOptions): Output {
  const { stdin, stdout, stderr } = process;
  const isDumb = environment.TERM === 'dumb';
  const spinner = createSpinner(stderr);
  const rewriteCommands = createCommandRewriter(environment, commands);
  const color = createColors(!environment.NO_COLOR && !isDumb && stdout.isTTY === true && !json);
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    spinner.clear();
    stream.write(`${sanitizeLine(text, color.isColorSupported)}\n`);
  };
  // The colours are those of stdout; stderr may go to a file all the same.
  const warn = (text: string): void =>
    write(
      stderr,
      stderr.isTTY
        ? wrapLines(rewriteCommands(text), terminalWidth(stderr))
        : rewriteCommands(stripVTControlCharacters(text)),
    );
  const held = new HeldLines(warn);
  return {
    json,
    interactive: stdin.isTTY === true && stderr.isTTY === true && !json,
    color,
    width: terminalWidth(stdout),
    line: (text = '') => write(stdout, text),
    data: (value) => write(stdout, escapeHidden(JSON.stringify(value, null, 2))),
    note: (text) => {
      if (!json) warn(text);
    },
    warn,
    log: (text) => held.add(text),
    rewriteCommands,
    withSpinner: (text, work) =>
      json ? work : stderr.isTTY && !isDumb ? spinner.showWhile(text, work) : printIfSlow(`${text} …`, work),
    progress: spinner.progress,
    ask: (question) => held.during(() => spinner.pauseFor(question)),
  };
}

/** So many lines wait for the answer to a question. */
const MAX_HELD_LINES = 100;

/** Lines that do not break into a question: they are written after it. */
class HeldLines {
  readonly #write: (text: string) => void;
  readonly #lines: string[] = [];
  #questions = 0;
  #dropped = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  add(text: string): void {
    if (this.#questions === 0) return this.#write(text);
    this.#lines.push(text);
    if (this.#lines.length <= MAX_HELD_LINES) return;
    this.#lines.shift();
    this.#dropped += 1;
  }

  async during<T>(question: () => Promise<T>): Promise<T> {
    this.#questions += 1;
    try {
      return await question();
    } finally {
      this.#questions -= 1;
      if (this.#questions === 0) this.#release();
    }
  }

  #release(): void {
    if (this.#dropped > 0)
      this.#write(`${this.#dropped} earlier messages are not shown. To see them: turnbuckle incidents`);
    this.#dropped = 0;
    for (const line of this.#lines.splice(0)) this.#write(line);
  }
}

/** Where no line can be drawn over: one line if it takes long, nothing otherwise. */
async function printIfSlow<T>(text: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => process.stderr.write(`${text}\n`), SPINNER_DELAY_MS);
  return work.finally(() => clearTimeout(timer));
}
