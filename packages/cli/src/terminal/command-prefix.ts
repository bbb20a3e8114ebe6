/** How this program is called here. In a clone `turnbuckle` is no command, and a next step has to work as it is printed. */
import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { shellQuote } from 'turnbuckle/light';
import { ownFile } from './own-command.js';

export interface InvocationInfo {
  /** The PATH of the user. */
  readonly path: string;
  readonly cwd: string;
  /** The file of this program, links followed. */
  readonly file: string;
}

const PROGRAM_NAME = 'turnbuckle';
const MAX_SCRIPT_CHARACTERS = 10_000;

/** How to invoke this program: `turnbuckle` if that is on the PATH. */
export function commandPrefix({ path, cwd, file }: InvocationInfo): string {
  if (path.split(delimiter).some((folder) => folder !== '' && resolvesTo(file, folder))) return PROGRAM_NAME;
  if (/[\\/]_npx[\\/]/.test(file)) return 'npx @turnbuckle/cli';
  if (/[\\/]node_modules[\\/]/.test(file)) return `npx ${PROGRAM_NAME}`;
  const inside = relative(cwd, file);
  return `node ${shellQuote(inside.startsWith('..') ? file : inside)}`;
}

/** A link to the file, or a small script that starts it, as package managers write them. */
function resolvesTo(file: string, folder: string): boolean {
  // npx and npm run put a folder there for as long as they run.
  if (folder.includes('node_modules')) return false;
  try {
    const found = realpathSync(join(folder, PROGRAM_NAME));
    if (found === file) return true;
    const script = readFileSync(found, 'utf8').slice(0, MAX_SCRIPT_CHARACTERS);
    return script.includes(file) || script.includes('@turnbuckle/cli');
  } catch {
    return false;
  }
}

/** Replaces `turnbuckle` with this prefix wherever a text names a command to run. */
export function createCommandRewriter(
  environment: Readonly<Record<string, string | undefined>>,
  commands: readonly string[],
): (text: string) => string {
  let called: string | undefined;
  const names = new RegExp(`(?<![\\w/.@-])${PROGRAM_NAME} (?=(?:${commands.join('|')})\\b|--)`, 'g');
  return (text) => {
    if (!text.includes(`${PROGRAM_NAME} `)) return text;
    return text.replace(names, () => {
      called ??= commandPrefix({ path: environment.PATH ?? '', cwd: process.cwd(), file: ownFile() });
      return `${called} `;
    });
  };
}
