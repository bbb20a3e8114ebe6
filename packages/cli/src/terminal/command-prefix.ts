/** How this program is called here. In a clone `turnbuckle` is no command, and a next step has to work as it is printed. */
import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { ownFile } from './daemon/own-command.js';
import { shellWord } from './shell-word.js';

export interface CallPlace {
  /** The PATH of whoever reads it. */
  readonly path: string;
  readonly cwd: string;
  /** The file of this program, links followed. */
  readonly file: string;
}

const NAME = 'turnbuckle';
const MAX_SCRIPT_CHARACTERS = 10_000;

/** The words to write in front of a command: `turnbuckle` where that is this program. */
export function howCalled({ path, cwd, file }: CallPlace): string {
  if (path.split(delimiter).some((folder) => folder !== '' && leadsTo(file, folder))) return NAME;
  if (/[\\/]_npx[\\/]/.test(file)) return 'npx @turnbuckle/cli';
  if (/[\\/]node_modules[\\/]/.test(file)) return `npx ${NAME}`;
  const inside = relative(cwd, file);
  return `node ${shellWord(inside.startsWith('..') ? file : inside)}`;
}

/** A link to the file, or a small script that starts it, as package managers write them. */
function leadsTo(file: string, folder: string): boolean {
  // npx and npm run put a folder there for as long as they run.
  if (folder.includes('node_modules')) return false;
  try {
    const found = realpathSync(join(folder, NAME));
    if (found === file) return true;
    const script = readFileSync(found, 'utf8').slice(0, MAX_SCRIPT_CHARACTERS);
    return script.includes(file) || script.includes('@turnbuckle/cli');
  } catch {
    return false;
  }
}

/** Puts these words for the name wherever a text tells somebody to run one of the commands. */
export function createSpeller(
  environment: Readonly<Record<string, string | undefined>>,
  commands: readonly string[],
): (text: string) => string {
  let called: string | undefined;
  const names = new RegExp(`(?<![\\w/.@-])${NAME} (?=(?:${commands.join('|')})\\b|--)`, 'g');
  return (text) => {
    if (!text.includes(`${NAME} `)) return text;
    return text.replace(names, () => {
      called ??= howCalled({ path: environment.PATH ?? '', cwd: process.cwd(), file: ownFile() });
      return `${called} `;
    });
  };
}
