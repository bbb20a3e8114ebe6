export type { Row } from './database.js';
export { boundedJson, type Invocation } from './invocation.js';
export { InvocationLog, type LogOptions } from './invocation-log.js';
export { Journal } from './journal.js';
export type { ServerRecord } from './log-messages.js';
export type { LogFilter } from './queries.js';
export type { Retention } from './retention.js';
