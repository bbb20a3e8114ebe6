/** What of a server's lists is not used, and what to do about it. */
import type { ServerStatus } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import { showLine } from '../terminal/untrusted-text.js';

/** Empty when all of it is used. */
export const leftOutText = ({ leftOut = [] }: Partial<Pick<ServerStatus, 'leftOut'>>): string =>
  leftOut.map((line) => showLine(line, 300)).join('; ');

export const leftOutHint = (name: string): string =>
  `If possible, configure the server to list fewer or smaller items. Show what is used: turnbuckle tools ${shellQuote(name)}`;
