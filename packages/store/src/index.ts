export type { Row } from './database.js';
export type { Invocation, ServerRecord } from './invocation.js';
export { InvocationLog, type LogCounts, type LogOptions } from './invocation-log.js';
export { type Durability, Journal } from './journal.js';
export { logDirectory } from './log-directory.js';
export { LogReader } from './log-reader.js';
export type { AnalyticsOrder, LogFilter, LogName, VisibleName } from './queries.js';
export type { Retention } from './retention.js';
export { searchFault } from './search-words.js';
