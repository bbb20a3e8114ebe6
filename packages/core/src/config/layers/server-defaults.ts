/** `defaults`: values of keys that a server does not set itself. */
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { describeIssue } from '../schema/issue-text.js';
import {
  DEFAULTABLE_KEYS,
  DEFAULTS_SCHEMA,
  type ServerConfig,
  type ServerDefaults,
} from '../schema/schema.js';
import { formatFaults, keyPath } from './parse.js';

/** Both, with precedence for the latter. */
export function mergeDefaults(before: ServerDefaults = {}, after: ServerDefaults = {}): ServerDefaults {
  const isSet = before.reconnect !== undefined && after.reconnect !== undefined;
  return {
    ...before,
    ...after,
    ...(isSet && { reconnect: { ...before.reconnect, ...after.reconnect } }),
  };
}

/** The entry with the defaults for what it leaves out: no shared connection for callers with credentials. The keys of `reconnect` count one by one. */
export function withDefaults(entry: unknown, defaults: ServerDefaults = {}): unknown {
  if (!isRecord(entry)) return entry;
  const missing = Object.entries(defaults).filter(
    ([key, value]) => entry[key] === undefined && !(value === 'shared' && entry.credentials !== undefined),
  );
  const { reconnect } = entry;
  return {
    ...entry,
    ...Object.fromEntries(missing),
    ...(isRecord(reconnect) && { reconnect: { ...defaults.reconnect, ...reconnect } }),
  };
}

/** The values of a server that defaults can set: they have no placeholders. */
export const defaultableOf = (server: ServerConfig): ServerDefaults =>
  Object.fromEntries(DEFAULTABLE_KEYS.map((key) => [key, server[key]]));

/** The defaults of a program. Throws CONFIG_INVALID. */
export function parseDefaults(input: unknown): ServerDefaults | undefined {
  if (input === undefined) return undefined;
  const parsed = DEFAULTS_SCHEMA.safeParse(input, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => ({
    path: keyPath('defaults', path),
    text: message,
  }));
  throw new TurnbuckleError('CONFIG_INVALID', `Invalid defaults: ${formatFaults(faults)}.`, {
    hint: 'See docs/configuration.md for the keys that can have defaults.',
    data: { problems: faults },
  });
}
