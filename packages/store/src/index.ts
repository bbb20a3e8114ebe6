export { CallJournal } from './call-journal.js';
export { CallLog, type LogCounts, type LogOptions } from './call-log.js';
export {
  CALL_COLUMN_LIST,
  CALL_COLUMNS,
  type CallColumn,
  type CallColumnName,
  type CallRecord,
  CONTENT_COLUMNS,
  fromRow,
  type ShownCall,
} from './call-record.js';
export type { Database, Row, Value } from './database.js';
export {
  INCIDENT_KINDS,
  INCIDENT_LEVELS,
  type IncidentKind,
  type IncidentLevel,
  type IncidentRecord,
  type ShownIncident,
  toShownIncident,
} from './incident-record.js';
export { type Durability, Journal } from './journal.js';
export type { ServerRecord } from './journal-entry.js';
export { logDirectory } from './log-directory.js';
export { LogReader } from './log-reader.js';
export type { AnalyticsOrder, LogFilter, LogName, VisibleName } from './queries/call-queries.js';
export type { IncidentFilter } from './queries/incident-queries.js';
export { searchFault } from './queries/search-words.js';
export type { Retention } from './retention.js';
export { type ServedOperations, serveThread } from './work/serve-thread.js';
export { ThreadClient } from './work/thread-client.js';
export type { ThreadOperations } from './work/thread-messages.js';
export { openWorkDatabase, type WorkDatabase } from './work/work-database.js';
