/** What the agent of the daemon asks for in each of its cycles, in one look at the database. */
import type { WorkDatabase } from '@turnbuckle/store';
import type { MessageType, StewardMessage } from '../requests/request-status.js';
import { readMessages, type SpentEnergy, unconfirmedEnergy } from './ledger.js';
import { readMessageCursor } from './settings-table.js';

export interface AgentQuestion {
  /** The name of the agent: what it asked for itself. */
  readonly caller: string;
  readonly types: readonly MessageType[];
  /** The number of the last message that it has read. */
  readonly after: number;
  /** The last message that the daemon has followed; undefined: none since it was started. */
  readonly upTo: number | undefined;
}

export interface AgentReport {
  /** About its own requests, the oldest first. */
  readonly news: readonly StewardMessage[];
  /** How far they were read. */
  readonly readTo: number;
  /** Energy of all requests that was not confirmed. */
  readonly energy: readonly SpentEnergy[];
  /** Whether requests wait for a worker or have one: of anybody, and its own. */
  readonly hasWork: boolean;
  readonly hasOwnWork: boolean;
}

const MAX_NEWS = 100;

export function agentReport(
  database: WorkDatabase,
  { caller, types, after, upTo = readMessageCursor(database) }: AgentQuestion,
): AgentReport {
  const news = readMessages(
    database,
    `SELECT steward_messages.* FROM steward_messages JOIN steward_requests ON steward_requests.id = request_id
     WHERE steward_messages.number > ? AND steward_messages.number <= ? AND requested_by = ?
       AND type IN (SELECT value FROM json_each(?)) ORDER BY steward_messages.number LIMIT ?`,
    [after, upTo, caller, JSON.stringify(types), MAX_NEWS],
  );
  const isFull = news.length === MAX_NEWS;
  return {
    news,
    readTo: isFull ? (news.at(-1)?.number ?? after) : Math.max(after, upTo),
    energy: unconfirmedEnergy(database),
    hasWork: hasActiveWork(database),
    hasOwnWork: hasActiveWork(database, caller),
  };
}

/** Whether a request waits for a worker or has one. One that waits for a person is no work. */
export function hasActiveWork(database: WorkDatabase, caller?: string): boolean {
  const active = 'SELECT 1 FROM steward_requests WHERE finished_at IS NULL AND waiting_for IS NULL';
  const found =
    caller === undefined
      ? database.prepare(`${active} LIMIT 1`).all()
      : database.prepare(`${active} AND requested_by = ? LIMIT 1`).all(caller);
  return found.length > 0;
}
