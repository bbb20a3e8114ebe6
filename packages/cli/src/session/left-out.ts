/** What of a server's lists is not used, and what to do about it. */
import type { ServerStatus } from 'turnbuckle';
import { shellWord } from './shell-word.js';
import { showLine } from './untrusted-text.js';

/** Empty when all of it is used. */
export const leftOutText = ({ leftOut = [] }: Partial<Pick<ServerStatus, 'leftOut'>>): string =>
  leftOut.map((line) => showLine(line, 300)).join('; ');

export const leftOutHint = (name: string): string =>
  `turnbuckle tools ${shellWord(name)} shows what is used. Have the server list less, if it has an option for that, or fewer and smaller entries.`;
