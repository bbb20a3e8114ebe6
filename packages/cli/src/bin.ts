#!/usr/bin/env node
import { isAbsolute } from 'node:path';
import { defaultStateDirectory } from 'turnbuckle/light';
import { CodeCache } from './launch/code-cache.js';
import { useCompiledChunks } from './launch/compiled-chunks.js';
import { main } from './main.js';

declare const BUILD_ID: string;

const IO_ERROR_EXIT = 74;

const { TURNBUCKLE_STATE_DIR: stateDirectory = '', NODE_DISABLE_COMPILE_CACHE: isCacheDisabled } =
  process.env;
if (!isCacheDisabled && (stateDirectory === '' || isAbsolute(stateDirectory)))
  useCompiledChunks({
    directory: import.meta.dirname,
    cache: new CodeCache(stateDirectory || defaultStateDirectory(process.env), BUILD_ID),
  });

const abort = new AbortController();
let forcedExitCode: number | undefined;
let signalled = false;

/** The command cleans up, its servers end, and the exit code says why. */
function stop(code: number, reason: string): void {
  forcedExitCode ??= code;
  abort.abort(new Error(reason));
}

/** The first signal lets the command clean up; the second one ends at once. */
function onSignal(code: number, reason: string): void {
  if (signalled) process.exit(code);
  signalled = true;
  stop(code, reason);
}

process.on('SIGINT', () => onSignal(130, 'Interrupted'));
process.on('SIGTERM', () => onSignal(143, 'Terminated'));
process.on('SIGHUP', () => onSignal(129, 'The terminal was closed'));
process.stdout.on('error', onStdoutError);
// The result is worth having where nobody reads the notes.
process.stderr.on('error', () => {});

/** A reader that has seen enough (head, less) is no error; a full disk is one, or the result would be missed. */
function onStdoutError(error: NodeJS.ErrnoException): void {
  const isEnough = error.code === 'EPIPE';
  if (!isEnough && forcedExitCode === undefined)
    process.stderr.write(`error Cannot write output: ${error.message}\n`);
  stop(isEnough ? 0 : IO_ERROR_EXIT, 'stdout was closed');
}

const run = main({
  args: process.argv.slice(2),
  environment: process.env,
  signal: abort.signal,
  onCleanExit: () => {
    if (signalled) forcedExitCode = undefined;
  },
});
void run.then((code) => {
  // What is still open (sockets kept alive, timers) must not keep a finished command.
  process.stdout.write('', (error) => {
    if (error) onStdoutError(error);
    process.exit(forcedExitCode ?? code);
  });
});
