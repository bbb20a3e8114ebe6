/** Settings of the whole steward that outlive a restart. */
import type { WorkDatabase } from '@turnbuckle/store';

/** Work is done while the owner has neither paused nor stopped it. */
export interface StewardMode {
  readonly paused: boolean;
  readonly stopped: boolean;
  /** The agent of this name has paused its own requests. It cannot pause others, nor resume what the owner has paused. */
  readonly heldCaller?: string;
}

export type ModeName = 'paused' | 'stopped';

export function readMode(database: WorkDatabase): StewardMode {
  const heldCaller = read(database, HELD) ?? '';
  return {
    paused: read(database, 'paused') === '1',
    stopped: read(database, 'stopped') === '1',
    ...(heldCaller !== '' && { heldCaller }),
  };
}

export const setMode = (database: WorkDatabase, name: ModeName, isOn: boolean): void =>
  write(database, name, isOn ? '1' : '0');

/** Undefined: the requests of the agent go on. */
export const holdCaller = (database: WorkDatabase, caller: string | undefined): void =>
  write(database, HELD, caller ?? '');

/** The number of the last message that the daemon has handed to its agent. */
export const readMessageCursor = (database: WorkDatabase): number =>
  Number(read(database, 'messages_read_to') ?? 0);

export const writeMessageCursor = (database: WorkDatabase, number: number): void =>
  write(database, 'messages_read_to', String(number));

const HELD = 'held_caller';

function read(database: WorkDatabase, name: string): string | undefined {
  const [row] = database.prepare('SELECT value FROM steward_settings WHERE name = ?').all(name);
  return row === undefined ? undefined : String(row.value);
}

function write(database: WorkDatabase, name: string, value: string): void {
  database.prepare('INSERT OR REPLACE INTO steward_settings (name, value) VALUES (?, ?)').run(name, value);
}
