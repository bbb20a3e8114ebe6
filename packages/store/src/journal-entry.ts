/** Lines of the journal: how a record is written, and how a line is read again. */
import { isRecord } from 'turnbuckle/light';
import { CALL_COLUMN_LIST, type CallRecord, CONTENT_COLUMNS } from './call-record.js';
import type { IncidentRecord } from './incident-record.js';
import type { JournalCapacity } from './journal.js';

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
  | { readonly kind: 'call'; readonly call: CallRecord }
  | { readonly kind: 'server'; readonly server: ServerRecord }
  | { readonly kind: 'incident'; readonly incident: IncidentRecord };

/** How a member of the record is written. */
interface Member {
  readonly name: string;
  readonly format: 'number' | 'text' | 'json' | 'none';
  /** `,"name":`, and the same with the quote of a text. */
  readonly prefix: string;
  readonly quoted: string;
}

const ID = 'id';
const toMember = (name: string, format: Member['format']): Member => ({
  name,
  format,
  prefix: `,"${name}":`,
  quoted: `,"${name}":"`,
});
const MEMBERS: ReadonlyMap<string, Member> = new Map(
  CALL_COLUMN_LIST.map(({ name, type, isContent }) => [
    name,
    // The id is written first, outside the loop.
    toMember(name, name === ID ? 'none' : type !== 'text' ? 'number' : isContent === true ? 'json' : 'text'),
  ]),
);
/** The members of the last record in its order. Records of one place have the same order: this saves a lookup for each. */
const lastMembers: Member[] = [];

/**
 * The record as JSON, written before each response is sent. `JSON.stringify` of the whole record takes three times as long;
 * `for…in` reads a member four times as fast as by the names of the table.
 */
export function toLine(call: CallRecord): string {
  const record: Fields = call;
  let line = `{"${ID}":${PLAIN.test(call.id) ? `"${call.id}"` : JSON.stringify(call.id)}`;
  let place = 0;
  for (const name in record) {
    const value = record[name];
    let member = lastMembers[place];
    if (member?.name !== name) {
      member = MEMBERS.get(name) ?? toMember(name, 'none');
      lastMembers[place] = member;
    }
    place += 1;
    if (value === undefined) continue;
    const { format } = member;
    const word = String(value);
    if (format === 'number') line += member.prefix + (Number.isFinite(value) ? word : 'null');
    else if (format === 'text' && PLAIN.test(word)) line += `${member.quoted}${word}"`;
    else if (format !== 'none') line += member.prefix + JSON.stringify(word);
  }
  return `${line}}`;
}

/** The record as JSON, without its large parts if the journal is nearly full. */
export function toFittingLine(call: CallRecord, capacity: Exclude<JournalCapacity, 'none'>): string {
  if (capacity === 'whole') return toLine(call);
  return toLine({ ...call, ...Object.fromEntries(CONTENT_COLUMNS.map((name) => [name, undefined])) });
}

/** Names and words need no escapes. */
const PLAIN = /^[\w .,:/-]*$/;

/** Undefined if the line is no entry: a torn write, or a line of another program. */
export function parseEntry(line: string): Entry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { kind, server, incident } = value;
  if (kind === 'server') return isRecord(server) && isServerRecord(server) ? { kind, server } : undefined;
  if (kind === 'incident')
    return isRecord(incident) && isIncidentRecord(incident) ? { kind, incident } : undefined;
  const call = withCurrentNames(value);
  return isCallRecord(call) ? { kind: 'call', call } : undefined;
}

/** A journal can hold lines of the previous release, with the names of that time. */
function withCurrentNames(value: Fields): Fields {
  let current = value;
  for (const [formerName, name] of FORMER_NAMES) {
    if (current[formerName] === undefined) continue;
    const { [formerName]: former, ...rest } = current;
    current = { [name]: former, ...rest };
  }
  return current;
}

type Shape = Readonly<Record<string, keyof typeof IS_TYPE>>;

/** A number that SQLite stores but JavaScript cannot read back would make every query fail that meets its row. */
const isNumber = (value: unknown): boolean =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

const IS_TYPE = {
  string: (value: unknown) => typeof value === 'string',
  boolean: (value: unknown) => typeof value === 'boolean',
  number: isNumber,
  time: (value: unknown) => isNumber(value) && !Number.isNaN(new Date(Number(value)).getTime()),
};

const toShape = (required: boolean): Shape =>
  Object.fromEntries(
    CALL_COLUMN_LIST.filter((column) => column.required === required).map(({ name, type }) => [
      name,
      type === 'text' ? 'string' : type,
    ]),
  );
const REQUIRED = toShape(true);
const OPTIONAL = toShape(false);
const FORMER_NAMES = CALL_COLUMN_LIST.flatMap(({ name, formerName }) =>
  formerName === undefined ? [] : [[formerName, name] as const],
);
const REQUIRED_OF_SERVER: Shape = {
  name: 'string',
  config: 'string',
  enabled: 'boolean',
  at: 'time',
  removed: 'boolean',
};
const OPTIONAL_OF_SERVER: Shape = { tools: 'number', toolTokens: 'number' };

// Kind and level are checked when they are read: a newer release may know others.
const REQUIRED_OF_INCIDENT: Shape = { at: 'time', level: 'string', kind: 'string', text: 'string' };
const OPTIONAL_OF_INCIDENT: Shape = { server: 'string', code: 'string', next: 'string' };

type Fields = Readonly<Record<string, unknown>>;

// A row that the database rejects would block all rows after it.
const isCallRecord = (value: Fields): value is Fields & CallRecord => hasShape(value, REQUIRED, OPTIONAL);

const isServerRecord = (value: Fields): value is Fields & ServerRecord =>
  hasShape(value, REQUIRED_OF_SERVER, OPTIONAL_OF_SERVER);

const isIncidentRecord = (value: Fields): value is Fields & IncidentRecord =>
  hasShape(value, REQUIRED_OF_INCIDENT, OPTIONAL_OF_INCIDENT);

function hasShape(value: Fields, required: Shape, optional: Shape): boolean {
  const isOfType = (name: string, type: keyof typeof IS_TYPE): boolean => IS_TYPE[type](value[name]);
  return (
    Object.entries(required).every(([name, type]) => isOfType(name, type)) &&
    Object.entries(optional).every(([name, type]) => value[name] === undefined || isOfType(name, type))
  );
}
