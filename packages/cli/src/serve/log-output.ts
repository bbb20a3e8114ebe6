/** Where the operator's log goes: readable lines for people, lines of JSON for programs and files. */
import { copyFileSync, fstatSync, ftruncateSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LogOutput } from '@turnbuckle/gateway';
import { TurnbuckleError } from 'turnbuckle';
import { LOG_LEVELS, type LogLevel } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { type IncidentLine, incidentLines } from '../history/incident-lines.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { escapeHidden } from '../terminal/untrusted-text.js';

/** A line of the log. */
export interface LogLine extends IncidentLine {
  readonly time: string;
  readonly kind?: string;
  readonly server?: string;
}

/** The log of a daemon in the background; its previous part has the suffix `.1`. */
export const daemonLogFile = (stateDir: string): string => join(stateDir, 'daemon.log');

const STDERR = 2;
const MAX_LOG_BYTES = 5 * 1_024 * 1_024;
/** The most that waits for a reader of stderr; beyond it, lines are dropped. */
const MAX_UNREAD_BYTES = 1_024 * 1_024;

/** `onLine` gets every line as well. */
export function createLogOutput(context: CommandContext, onLine?: (line: LogLine) => void): LogOutput {
  // The client of --stdio shows stderr to people.
  const isText = !context.output.json && (process.stderr.isTTY === true || context.flags.stdio === true);
  const print = isText ? createTextPrinter(context) : createJsonPrinter(context);
  return {
    level: parseLogLevel(context.flags['log-level']),
    write: (json) => {
      const line = JSON.parse(json) as LogLine;
      onLine?.(line);
      print(line, json);
    },
  };
}

/** ARGUMENTS_INVALID for a level that does not exist. */
export function parseLogLevel(text: unknown): LogLevel | undefined {
  if (text === undefined) return undefined;
  const level = LOG_LEVELS.find((one) => one === text);
  if (level !== undefined) return level;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Invalid --log-level "${String(text)}".`, {
    hint: `Use one of these: ${LOG_LEVELS.join(', ')}`,
  });
}

type Print = (line: LogLine, json: string) => void;

function createTextPrinter({ output }: CommandContext): Print {
  return (line) => {
    // The command has said so itself.
    const isKnown = line.kind === 'daemon-started' || line.kind === 'daemon-stopped';
    if (!isKnown || line.level !== 'info') output.log(incidentLines(line, line.time, output.color));
  };
}

function createJsonPrinter(context: CommandContext): Print {
  const { stderr } = process;
  const keepBounded = createRotation(ownLogFile(stateDirectoryOf(context)));
  let dropped = 0;
  return (entry, json) => {
    const { time } = entry;
    if (stderr.writableLength > MAX_UNREAD_BYTES) {
      dropped += 1;
      return;
    }
    const text = `${dropped} log lines were dropped because stderr was not being read.`;
    const missed = dropped === 0 ? '' : `${JSON.stringify({ level: 'warn', time, text })}\n`;
    dropped = 0;
    const line = missed + escapeHidden(withOwnCommands(entry, json, context));
    keepBounded(line.length);
    stderr.write(line);
  };
}

/** The same line, with a next step that works as it is printed. */
function withOwnCommands(line: LogLine, json: string, { output }: CommandContext): string {
  const { next } = line;
  const rewritten = next && output.rewriteCommands(next);
  return rewritten === next ? json : `${JSON.stringify({ ...line, next: rewritten })}\n`;
}

/** The file of the log is copied and emptied before it grows too large: the process keeps it open as stderr. */
function createRotation(file: string | undefined): (bytes: number) => void {
  if (file === undefined) return () => {};
  let size = fstatSync(STDERR).size;
  return (bytes) => {
    size += bytes;
    if (size <= MAX_LOG_BYTES) return;
    size = bytes;
    try {
      copyFileSync(file, `${file}.1`);
    } catch {
      // On a full disk, the limit matters more than the previous part.
    }
    ftruncateSync(STDERR);
  };
}

/** The file that the log of this process goes to; undefined if it goes elsewhere. */
export function ownLogFile(stateDir: string): string | undefined {
  const file = daemonLogFile(stateDir);
  return isStderr(file) ? file : undefined;
}

function isStderr(file: string): boolean {
  const named = statSync(file, { throwIfNoEntry: false });
  const own = fstatSync(STDERR);
  return named?.isFile() === true && named.dev === own.dev && named.ino === own.ino;
}
