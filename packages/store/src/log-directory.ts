/** The paths of the log's parts. */
import { join } from 'node:path';

/** The log's directory in the state directory. */
export const logDirectory = (stateDir: string): string => join(stateDir, 'log');

export const journalDirectory = (directory: string): string => join(directory, 'journal');

export const databaseFile = (directory: string): string => join(directory, 'log.db');
