/** Runs the built command on a pseudo terminal of script(1): the test sends keys and reads the screen. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { waitUntil } from '@turnbuckle/testing';
import { BIN, environmentOf, type RunOptions } from '../commands/turnbuckle.js';

const SCRIPT = 'script';

/** False without util-linux, or if its script does not support these options. */
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

const TIMEOUT_MS = 20_000;

export interface TerminalOptions extends RunOptions {
  /** The number of columns of the terminal. */
  readonly columns?: number;
  /** Appended to the command line, such as `> file`. */
  readonly redirect?: string;
}

export interface Terminal {
  /** The script(1) process, the parent of the command. */
  readonly pid: number;
  /** Everything printed so far, including colours and cursor moves. */
  raw(): string;
  /** The same as plain lines, including overwritten text. */
  text(): string;
  press(...keys: string[]): void;
  /** Waits until this text appears, after everything that was waited for before. */
  see(text: string): Promise<void>;
  /** The exit code of the command. */
  readonly ended: Promise<number | null>;
}

/** Starts an interactive command. */
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
      await waitUntil(() => text().includes(wanted, seen), TIMEOUT_MS).catch(() => {
        throw new Error(`The screen does not show ${JSON.stringify(wanted)} but:\n${text().slice(seen)}`);
      });
      seen = text().indexOf(wanted, seen) + wanted.length;
    },
    ended: once(child, 'close').then(([code]) => (typeof code === 'number' ? code : null)),
  };
}

export interface Shown {
  readonly raw: string;
  /** The final screen: of an overwritten line, only the last version. */
  readonly screen: string;
  readonly code: number | null;
}

/** The output and exit code of a command that asks nothing. */
export async function onTerminal(words: readonly string[], options: TerminalOptions): Promise<Shown> {
  const terminal = openTerminal(words, options);
  const code = await terminal.ended;
  const lines = terminal.text().split('\n');
  const screen = lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n');
  return { raw: terminal.raw(), screen, code };
}

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
