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
export type { Row } from './database.js';
export { type Durability, Journal } from './journal.js';
export type { ServerRecord } from './journal-entry.js';
export { logDirectory } from './log-directory.js';
export { LogReader } from './log-reader.js';
export type { AnalyticsOrder, LogFilter, LogName, VisibleName } from './queries.js';
export type { Retention } from './retention.js';
export { searchFault } from './search-words.js';
