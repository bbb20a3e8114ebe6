/** What is kept: the record of a call, and that of a server; redacted and bounded before anything is written. */

export interface Invocation {
  readonly id: string;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly conversation?: string | undefined;
  readonly caller?: string | undefined;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  readonly kind: 'tool' | 'resource' | 'prompt';
  /** JSON, cut off at the limit. */
  readonly arguments?: string | undefined;
  /** How long it was before. */
  readonly argumentsBytes: number;
  /** What went along with them; JSON, cut off like them. */
  readonly alsoSent?: string | undefined;
  readonly result?: string | undefined;
  readonly resultBytes: number;
  readonly outcome: 'ok' | 'tool-error' | 'failed';
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly attempts: number;
  readonly decision?: string | undefined;
  readonly reason?: string | undefined;
  /** What a person answered, and who. */
  readonly approval?: string | undefined;
  readonly era?: string | undefined;
  readonly energy?: number | undefined;
}

/** The record as JSON. Written out: this is made before each answer leaves, and `JSON.stringify` takes three times as long. */
export function toLine(call: Invocation): string {
  const { id, startedAt, durationMs, server, tool, toolName, kind, argumentsBytes, resultBytes, outcome } =
    call;
  return (
    `{"id":${text(id)},"startedAt":${number(startedAt)},"durationMs":${number(durationMs)},"server":${text(server)},` +
    `"tool":${text(tool)},"toolName":${text(toolName)},"kind":${text(kind)},"outcome":${text(outcome)},` +
    `"argumentsBytes":${number(argumentsBytes)},"resultBytes":${number(resultBytes)},"attempts":${number(call.attempts)}` +
    `${member('arguments', call.arguments)}${member('alsoSent', call.alsoSent)}${member('result', call.result)}${member('conversation', call.conversation)}` +
    `${member('caller', call.caller)}${member('code', call.code)}${member('error', call.error)}` +
    `${member('decision', call.decision)}${member('reason', call.reason)}${member('approval', call.approval)}` +
    `${member('era', call.era)}${call.energy === undefined ? '' : `,"energy":${number(call.energy)}`}}`
  );
}

/** Names and words need no escapes. */
const PLAIN = /^[\w .,:/-]*$/;
const text = (value: string): string => (PLAIN.test(value) ? `"${value}"` : JSON.stringify(value));
const number = (value: number): string => (Number.isFinite(value) ? String(value) : 'null');
const member = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${text(value)}`;

export interface ServerRecord {
  readonly name: string;
  /** Redacted JSON. */
  readonly config: string;
  readonly enabled: boolean;
  readonly at: number;
  readonly removed: boolean;
  readonly tools?: number | undefined;
  /** What its list of tools costs a model, in tokens, about. */
  readonly toolTokens?: number | undefined;
}

/** A line of the journal. */
export type Entry =
  | { readonly kind: 'call'; readonly call: Invocation }
  | { readonly kind: 'server'; readonly server: ServerRecord };

/** Undefined for what is no entry: a torn line, or somebody else's. */
export function parseEntry(line: string): Entry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  if (value.kind !== 'server') return isInvocation(value) ? { kind: 'call', call: value } : undefined;
  return isRecord(value.server) && isServerRecord(value.server)
    ? { kind: 'server', server: value.server }
    : undefined;
}

type Shape = Readonly<Record<string, 'string' | 'number' | 'boolean'>>;

const NEEDED: Shape = {
  id: 'string',
  startedAt: 'number',
  durationMs: 'number',
  server: 'string',
  tool: 'string',
  toolName: 'string',
  kind: 'string',
  argumentsBytes: 'number',
  resultBytes: 'number',
  outcome: 'string',
  attempts: 'number',
};
const OPTIONAL: Shape = {
  conversation: 'string',
  caller: 'string',
  arguments: 'string',
  alsoSent: 'string',
  result: 'string',
  code: 'string',
  error: 'string',
  decision: 'string',
  reason: 'string',
  approval: 'string',
  era: 'string',
  energy: 'number',
};
const NEEDED_OF_SERVER: Shape = {
  name: 'string',
  config: 'string',
  enabled: 'boolean',
  at: 'number',
  removed: 'boolean',
};
const OPTIONAL_OF_SERVER: Shape = { tools: 'number', toolTokens: 'number' };

type Fields = Readonly<Record<string, unknown>>;

// A row that the database refuses would hold up all that come after it.
const isInvocation = (value: Fields): value is Fields & Invocation => hasShape(value, NEEDED, OPTIONAL);

const isServerRecord = (value: Fields): value is Fields & ServerRecord =>
  hasShape(value, NEEDED_OF_SERVER, OPTIONAL_OF_SERVER);

function hasShape(value: Fields, needed: Shape, optional: Shape): boolean {
  for (const name in needed) if (typeof value[name] !== needed[name]) return false;
  for (const name in optional)
    if (value[name] !== undefined && typeof value[name] !== optional[name]) return false;
  return true;
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
