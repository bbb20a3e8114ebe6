import { existsSync, readFileSync } from 'node:fs';
import { fixture } from '@turnbuckle/testing';

/** A working server that appends a line to a file when its process starts. */
export function markingServer(marker: string): { command: string; args: string[] } {
  const { command, args } = fixture('echo');
  const code = `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(marker)}, 'started\\n');`;
  return { command, args: ['--import', `data:text/javascript,${encodeURIComponent(code)}`, ...args] };
}

/** How often such a server was started. */
export function startsIn(marker: string): number {
  return existsSync(marker) ? readFileSync(marker, 'utf8').split('\n').length - 1 : 0;
}
