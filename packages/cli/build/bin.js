#!/usr/bin/env node
import { main } from './main.js';

const abort = new AbortController();
// The first Ctrl-C lets the command clean up; the second one ends at once.
process.once('SIGINT', () => {
  abort.abort(new Error('Interrupted'));
  process.once('SIGINT', () => process.exit(130));
});
process.once('SIGTERM', () => abort.abort(new Error('Terminated')));
// A reader that has seen enough (head, less) is no error.
process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1));
const code = await main({ words: process.argv.slice(2), environment: process.env, signal: abort.signal });
// What is still open (sockets kept alive, timers) must not keep a finished command.
process.stdout.write('', () => process.exit(code));
//# sourceMappingURL=bin.js.map
