/** Where the parts of the log are. */
import { join } from 'node:path';

/** The log's own directory in the directory of state. */
export const logDirectory = (stateDir: string): string => join(stateDir, 'log');

export const journalOf = (directory: string): string => join(directory, 'journal');

export const logFileOf = (directory: string): string => join(directory, 'log.db');
