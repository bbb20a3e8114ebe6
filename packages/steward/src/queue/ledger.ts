/** Messages of the steward and the energy that it has spent: rows that are added with a change of a request, and read once. */
import type { Value, WorkDatabase } from '@turnbuckle/store';
import type { MessageType, StewardMessage } from '../requests/request-status.js';
import { messageJson } from './bounded-json.js';
import { toUnits } from './request-row.js';

export interface EnergyEntry {
  /** `<request>:<step>:<attempt>`. An entry with a known name is not counted again. */
  readonly ref: string;
  /** In thousandths of a unit. */
  readonly amount: number;
}

export interface NewMessage {
  readonly type: MessageType;
  readonly data: unknown;
}

const SOURCE = 'steward';
const MAX_MESSAGES = 1_000;
const MAX_ENTRIES = 1_000;

/** Adds the entries, and returns how much of it is new. Call it in a transaction. */
export function addEnergy(database: WorkDatabase, entries: readonly EnergyEntry[], at: number): number {
  const insert = database.prepare(
    'INSERT OR IGNORE INTO energy_spent (source, ref, amount, at) VALUES (?, ?, ?, ?) RETURNING amount',
  );
  return entries
    .flatMap(({ ref, amount }) => insert.all(SOURCE, ref, Math.max(0, Math.round(amount)), at))
    .reduce((sum, row) => sum + Number(row.amount), 0);
}

/** The energy spent since it was last taken, in units. Each entry is taken once. */
export function takeEnergy(database: WorkDatabase): number {
  // Polled often: without new entries nothing is locked.
  if (untakenEnergy(database) === 0) return 0;
  return database.transaction(() => {
    const taken = untakenEnergy(database);
    database.exec('UPDATE energy_spent SET taken = 1 WHERE taken = 0');
    return toUnits(taken);
  });
}

export interface SpentEnergy {
  readonly ref: string;
  readonly thousandths: number;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/** What was spent and not taken, in the order in which it was spent. */
export const unconfirmedEnergy = (database: WorkDatabase): SpentEnergy[] =>
  database
    .prepare('SELECT ref, amount, at FROM energy_spent WHERE taken = 0 ORDER BY number LIMIT ?')
    .all(MAX_ENTRIES)
    .map(({ ref, amount, at }) => ({ ref: String(ref), thousandths: Number(amount), at: Number(at) }));

/** These are recorded elsewhere now: they are not returned again. */
export function confirmEnergy(database: WorkDatabase, refs: readonly string[]): void {
  const confirm = database.prepare('UPDATE energy_spent SET taken = 1 WHERE ref = ?');
  database.transaction(() => {
    for (const ref of refs) confirm.run(ref);
  });
}

function untakenEnergy(database: WorkDatabase): number {
  const [row] = database.prepare('SELECT SUM(amount) AS total FROM energy_spent WHERE taken = 0').all();
  return Number(row?.total ?? 0);
}

/** Call it in a transaction. */
export function addMessages(
  database: WorkDatabase,
  { requestId, at }: { readonly requestId: string; readonly at: number },
  messages: readonly NewMessage[],
): void {
  const insert = database.prepare(
    'INSERT INTO steward_messages (type, request_id, data, at) VALUES (?, ?, ?, ?)',
  );
  for (const { type, data } of messages) insert.run(type, requestId, messageJson(data), at);
}

/** In order, from the first with a higher number. */
export function messagesAfter(database: WorkDatabase, number: number, limit: number): StewardMessage[] {
  const sql = 'SELECT * FROM steward_messages WHERE number > ? ORDER BY number LIMIT ?';
  return readMessages(database, sql, [number, Math.min(Math.max(1, limit), MAX_MESSAGES)]);
}

export const readMessages = (
  database: WorkDatabase,
  sql: string,
  values: readonly Value[],
): StewardMessage[] =>
  database
    .prepare(sql)
    .all(...values)
    .map((row) => ({
      number: Number(row.number),
      type: String(row.type) as MessageType,
      requestId: String(row.request_id),
      data: JSON.parse(String(row.data)) as unknown,
      at: new Date(Number(row.at)).toISOString(),
    }));
