#!/usr/bin/env node
import { main } from './main.js';

const abort = new AbortController();
let stopped: number | undefined;

/** The command cleans up, its servers end, and the exit code says why. */
function stop(code: number, reason: string): void {
  stopped ??= code;
  abort.abort(new Error(reason));
}

// The first Ctrl-C lets the command clean up; the second one ends at once.
process.once('SIGINT', () => {
  stop(130, 'Interrupted');
  process.once('SIGINT', () => process.exit(130));
});
process.once('SIGTERM', () => stop(143, 'Terminated'));
process.once('SIGHUP', () => stop(129, 'The terminal is gone'));
// A reader that has seen enough (head, less) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  stop(error.code === 'EPIPE' ? 0 : 1, 'Nobody reads the output'),
);

const code = await main({ words: process.argv.slice(2), environment: process.env, signal: abort.signal });
// What is still open (sockets kept alive, timers) must not keep a finished command.
process.stdout.write('', () => process.exit(stopped ?? code));
