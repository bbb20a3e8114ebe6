/**
 * The figures and their bounds. A figure is our value divided by that of the same round of the raw SDK's client, of
 * direct calls, or of the floor; for `against: 'itself'` the recorded value itself is compared with the bound.
 * @typedef {object} Figure
 * @property {string} id
 * @property {string} name
 * @property {'sdk' | 'direct' | 'floor' | 'itself'} against
 * @property {'µs' | 'ms' | 'calls/s' | 'KB' | 'MB' | 'starts' | ''} unit of the recorded values
 * @property {{ atMost: number } | { atLeast: number } | { exactly: number }} bound
 * @property {'clients' | 'gateways'} [table] the table that has a column for it
 * @property {string} [column] heading in that table
 */

/** @type {readonly Figure[]} */
export const figures = [
  {
    id: 'stdio-sequential',
    name: 'stdio, one call after the other, p50',
    against: 'sdk',
    unit: 'µs',
    bound: { atMost: 0.6 },
    table: 'clients',
    column: 'stdio p50',
  },
  {
    id: 'stdio-in-flight',
    name: 'stdio, 64 in flight, throughput',
    against: 'sdk',
    unit: 'calls/s',
    bound: { atLeast: 2.4 },
    table: 'clients',
    column: 'stdio 64-way',
  },
  {
    id: 'http-sequential',
    name: 'HTTP, one call after the other, p50',
    against: 'sdk',
    unit: 'µs',
    bound: { atMost: 0.5 },
    table: 'clients',
    column: 'HTTP p50',
  },
  {
    id: 'http-in-flight',
    name: 'HTTP, 64 in flight, throughput',
    against: 'sdk',
    unit: 'calls/s',
    bound: { atLeast: 1.5 },
    table: 'clients',
    column: 'HTTP 64-way',
  },
  {
    id: 'first-call',
    name: 'first call after 1,000 tools with output schemas',
    against: 'sdk',
    unit: 'ms',
    bound: { atMost: 0.1 },
    table: 'clients',
    column: 'first call',
  },
  {
    id: 'fan-out',
    name: '20 stdio servers connected and listed',
    against: 'sdk',
    unit: 'ms',
    bound: { atMost: 1 },
    table: 'clients',
    column: '20 servers',
  },
  {
    id: 'catalogue-growth',
    name: 'call with 5,000 tools over call with 10, p50',
    against: 'itself',
    unit: '',
    bound: { atMost: 1.05 },
  },
  {
    id: 'heap-per-tool',
    name: 'heap per tool beyond its JSON, 5,000 tools',
    against: 'itself',
    unit: 'KB',
    bound: { atMost: 3 },
  },
  {
    id: 'single-start',
    name: 'process starts of a server whose era is known',
    against: 'itself',
    unit: 'starts',
    bound: { exactly: 1 },
  },
  {
    id: 'cli-help',
    name: 'turnbuckle --help over bare node -e 0',
    against: 'itself',
    unit: '',
    bound: { atMost: 1.6 },
  },
  {
    id: 'cli-call',
    name: 'turnbuckle call, cold stdio server, over bare node',
    against: 'itself',
    unit: '',
    bound: { atMost: 3 },
  },
  {
    id: 'cli-warm',
    name: 'the same with the daemon running',
    against: 'itself',
    unit: '',
    bound: { atMost: 1.6 },
  },
  {
    id: 'hot-reload',
    name: 'file written to new tool callable, 20 servers',
    against: 'itself',
    unit: 'ms',
    bound: { atMost: 300 },
  },
  {
    id: 'rules-decision',
    name: 'deciding a call against 1,000 rules of all kinds',
    against: 'itself',
    unit: 'µs',
    bound: { atMost: 20 },
  },
  {
    id: 'rules-arguments',
    name: 'the same where each rule looks at the arguments',
    against: 'itself',
    unit: 'µs',
    bound: { atMost: 100 },
  },
  {
    id: 'gateway-call',
    name: 'call through the daemon over a direct one, p50',
    against: 'direct',
    unit: 'µs',
    bound: { atMost: 2.1 },
    table: 'gateways',
    column: 'call p50',
  },
  {
    id: 'gateway-in-flight',
    name: 'the same with 64 in flight, throughput',
    against: 'direct',
    unit: 'calls/s',
    bound: { atLeast: 0.45 },
    table: 'gateways',
    column: '64-way',
  },
  {
    id: 'gateway-list',
    name: 'list of 100 tools over a direct one, p50',
    against: 'direct',
    unit: 'µs',
    bound: { atMost: 1.3 },
    table: 'gateways',
    column: 'list',
  },
  {
    id: 'gateway-log',
    name: 'call with the log over call without, p50',
    against: 'itself',
    unit: '',
    bound: { atMost: 1.05 },
  },
  {
    id: 'gateway-ready',
    name: 'daemon ready with 10 servers over the floor',
    against: 'floor',
    unit: 'ms',
    bound: { atMost: 1.3 },
    table: 'gateways',
    column: 'ready',
  },
  {
    id: 'gateway-memory',
    name: 'daemon with 10 servers, idle',
    against: 'itself',
    unit: 'MB',
    bound: { atMost: 100 },
    table: 'gateways',
    column: 'idle memory',
  },
  {
    id: 'gateway-session',
    name: 'memory that an older client adds',
    against: 'itself',
    unit: 'KB',
    bound: { atMost: 100 },
  },
];
