/** What a daemon was started with, kept in its record so that it can be started again the same way. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Flags } from '../command.js';

export interface DaemonStartOptions {
  readonly directory: string;
  /** Those that a daemon takes. Files are named by their whole paths. */
  readonly flags: Flags;
  /** The file of its log, if it runs in the background. */
  readonly log?: string | undefined;
}

const DAEMON_FLAGS = [
  'port',
  'host',
  'demo',
  'config',
  'mcp-server',
  'trust-project',
  'verbose',
  'log-level',
];

/** The flags of a command line that make a daemon what it is, as they were meant here. */
export function pickDaemonFlags(flags: Flags): Flags {
  const given = DAEMON_FLAGS.flatMap((name): Array<[string, Flags[string]]> => {
    const value = flags[name];
    if (value === undefined || value === false) return [];
    return [[name, name === 'config' ? [value].flat().map((file) => resolve(String(file))) : value]];
  });
  return Object.fromEntries(given);
}

/** The same as command-line arguments. */
export function toCommandLine(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [value].flat().map((one) => `--${name}=${one}`),
  );
}

/** Start options of the running daemon; undefined when its record has none. */
export function readStartOptions(stateDir: string): DaemonStartOptions | undefined {
  try {
    const { directory, flags, log } = JSON.parse(
      readFileSync(join(stateDir, 'daemon.json'), 'utf8'),
    ).startedWith;
    if (typeof directory !== 'string' || !isFlags(flags)) return undefined;
    // It may have been taken away since.
    return {
      directory: existsSync(directory) ? directory : process.cwd(),
      flags,
      ...(typeof log === 'string' && { log }),
    };
  } catch {
    return undefined;
  }
}

function isFlags(value: unknown): value is Flags {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(
    ([name, one]) =>
      DAEMON_FLAGS.includes(name) &&
      (one === true || [one].flat().every((part: unknown) => typeof part === 'string')),
  );
}
