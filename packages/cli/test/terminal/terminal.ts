/** The built command on a real pseudo terminal, which script(1) makes: keys go in, what the screen gets comes out. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { waitUntil } from '@turnbuckle/testing';
import { BIN, environmentOf, type RunOptions } from '../commands/turnbuckle.js';

const SCRIPT = 'script';

/** False where util-linux is not there, or its script does not take these options. */
export const HAS_TERMINAL = spawnSync(SCRIPT, ['-qfec', 'true', '/dev/null']).status === 0;
/** For the titles of tests that are skipped without it. */
export const NEEDS_TERMINAL = HAS_TERMINAL ? '' : ' (skipped: no script(1) of util-linux here)';

export const KEYS = {
  enter: '\r',
  ctrlC: '\u0003',
  escape: '\u001b',
  down: '\u001b[B',
  up: '\u001b[A',
} as const;

const PATIENCE_MS = 20_000;

export interface TerminalOptions extends RunOptions {
  /** How many columns the terminal has. */
  readonly columns?: number;
  /** Put behind the command: `> file`, for example. */
  readonly redirect?: string;
}

export interface Terminal {
  /** The process of script(1), above the command. */
  readonly pid: number;
  /** Everything the screen got so far, colours and cursor moves included. */
  raw(): string;
  /** The same as plain lines; what was overwritten is still there. */
  text(): string;
  press(...keys: string[]): void;
  /** Until the screen got this, after everything that was waited for before. */
  see(text: string): Promise<void>;
  /** The exit code, once it is over. */
  readonly ended: Promise<number | null>;
}

/** Starts the command with a person at the keyboard. */
export function openTerminal(words: readonly string[], options: TerminalOptions): Terminal {
  const { home, cwd, env, columns = 100, redirect = '' } = options;
  const command = [process.execPath, BIN, ...words].map(quote).join(' ');
  const line = `stty cols ${columns} rows 30; exec ${command} ${redirect}`;
  const child = spawn(SCRIPT, ['-qfec', line, '/dev/null'], {
    cwd: cwd ?? home.project,
    env: { ...environmentOf(home), TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: 'pipe',
  });
  let raw = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    raw += chunk;
  });
  child.stdin.on('error', () => {});
  const text = (): string => stripVTControlCharacters(raw).replaceAll('\r\n', '\n');
  return {
    pid: child.pid ?? 0,
    raw: () => raw,
    text,
    press: (...keys) => void child.stdin.write(keys.join('')),
    see: async (wanted) => {
      await waitUntil(() => text().includes(wanted, seen), PATIENCE_MS).catch(() => {
        throw new Error(`The screen does not show ${JSON.stringify(wanted)} but:\n${text().slice(seen)}`);
      });
      seen = text().indexOf(wanted, seen) + wanted.length;
    },
    ended: once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null)),
  };
}

export interface Shown {
  readonly raw: string;
  /** What is there in the end: of a line that was drawn over, the last. */
  readonly screen: string;
  readonly code: number | null;
}

/** What the screen got from a command that asks nothing, and how it ended. */
export async function onTerminal(words: readonly string[], options: TerminalOptions): Promise<Shown> {
  const terminal = openTerminal(words, options);
  const code = await terminal.ended;
  const lines = terminal.text().split('\n');
  const screen = lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n');
  return { raw: terminal.raw(), screen, code };
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
