/** Settings of the whole steward that outlive a restart. */
import type { WorkDatabase } from '@turnbuckle/store';

/** Work is done while it is neither paused nor stopped. */
export interface StewardMode {
  readonly paused: boolean;
  readonly stopped: boolean;
}

export function readMode(database: WorkDatabase): StewardMode {
  return { paused: read(database, 'paused') === '1', stopped: read(database, 'stopped') === '1' };
}

export const setMode = (database: WorkDatabase, name: keyof StewardMode, isOn: boolean): void =>
  write(database, name, isOn ? '1' : '0');

/** The number of the last message that the daemon has handed to its agent. */
export const readMessageCursor = (database: WorkDatabase): number =>
  Number(read(database, 'messages_read_to') ?? 0);

export const writeMessageCursor = (database: WorkDatabase, number: number): void =>
  write(database, 'messages_read_to', String(number));

function read(database: WorkDatabase, name: string): string | undefined {
  const [row] = database.prepare('SELECT value FROM steward_settings WHERE name = ?').all(name);
  return row === undefined ? undefined : String(row.value);
}

function write(database: WorkDatabase, name: string, value: string): void {
  database.prepare('INSERT OR REPLACE INTO steward_settings (name, value) VALUES (?, ?)').run(name, value);
}
