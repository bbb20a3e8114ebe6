/** Reads a client's file: every entry becomes a server of ours or is left out with a reason. */
import type { Client, LocatedEntry, ReadOptions } from './client.js';
import { clientById } from './clients.js';
import type { Dialect } from './dialect.js';
import type { ImportedServer, ImportResult, SkippedServer } from './entries/imported-server.js';
import { escapeText } from './entries/placeholders.js';
import { readEntry } from './entries/read-entry.js';
import { type FileFormat, parseText } from './formats/parse-text.js';
import { isEntry } from './formats/plain-value.js';
import { detectDialect, generic } from './generic-client.js';
import { locateEntries } from './locate-entries.js';

/** Never throws: what is wrong with the file is in `problems`, with an entry in `skipped`. */
export function readClientConfig(clientId: string, text: string, options: ReadOptions = {}): ImportResult {
  const client = clientById(clientId) ?? (clientId === generic.id ? generic : undefined);
  if (client === undefined) return failedResult(`unknown client "${clientId}"`);
  const parsed = parseText(text, formatOf(client, options.file), true);
  if ('problem' in parsed) return failedResult(parsed.problem);
  if (parsed.value === undefined) return failedResult('the file is empty');
  if (!isEntry(parsed.value) && !(client === generic && Array.isArray(parsed.value)))
    return failedResult('the file does not contain a map of settings');
  return readDocument(client, parsed.value, options);
}

/** A file of an unknown client, detected by its shape. */
export function readUnknownConfig(text: string, options: ReadOptions = {}): ImportResult {
  return readClientConfig(generic.id, text, options);
}

function readDocument(client: Client, root: unknown, options: ReadOptions): ImportResult {
  const known = client === generic ? detectDialect(root) : undefined;
  const dialect = known?.dialect ?? client.dialectOf?.(root) ?? client.dialect;
  const located = known?.entries ?? client.locate?.(root, options) ?? locateEntries(root, dialect);
  const servers: ImportedServer[] = [];
  const skipped: SkippedServer[] = [];
  for (const entry of located) {
    const outcome = toServer(entry, dialect, options);
    if ('reason' in outcome) skipped.push({ name: entry.name, reason: outcome.reason });
    else servers.push(outcome);
  }
  const given = client.approvals?.(root, options.project);
  // A file that comes with a project must not approve that project's servers.
  const approvals = options.scope === 'project' && given ? { ...given, all: false, enabled: [] } : given;
  return {
    servers,
    skipped,
    problems: client === generic && known === undefined ? ['no servers were recognised in the file'] : [],
    inputs: (client.inputs ?? generic.inputs)?.(root) ?? [],
    ...(approvals === undefined ? {} : { approvals }),
  };
}

function toServer(
  located: LocatedEntry,
  dialect: Dialect,
  options: ReadOptions,
): ImportedServer | { reason: string } {
  const { name, value, refused, offBy } = located;
  const reason = refused ?? nameProblem(name);
  if (reason !== undefined) return { reason };
  if (!isEntry(value)) return { reason: 'it is not a map of settings' };
  const read = readEntry(value, dialect);
  if ('reason' in read) return read;
  const scope = located.scope ?? options.scope;
  const trust = located.trust ?? (scope === 'project' ? ('ask' as const) : undefined);
  const excludeTools = [...(read.config.excludeTools ?? []), ...(located.excludeTools ?? []).map(escapeText)];
  return {
    name,
    config: {
      ...read.config,
      ...(offBy === undefined ? {} : { enabled: false }),
      ...(excludeTools.length === 0 ? {} : { excludeTools }),
    },
    notes: [
      ...read.notes,
      ...(located.notes ?? []),
      ...(offBy === undefined ? [] : [`disabled by ${offBy}`]),
    ],
    ...(Object.keys(read.extra).length === 0 ? {} : { extra: read.extra }),
    ...(scope === undefined ? {} : { scope }),
    ...(located.project === undefined ? {} : { project: located.project }),
    ...(trust === undefined ? {} : { trust }),
  };
}

/** What our own configuration refuses as a name, and what could do harm as a key. */
export function nameProblem(name: string): string | undefined {
  if (name === '__proto__') return 'its name cannot be used as a key';
  if (name === 'native') return 'the name "native" is reserved';
  if (name === '' || name !== name.trim()) return 'its name is empty, or starts or ends with a space';
  if (name.length > 128) return 'its name has more than 128 characters';
  return /[\p{Cc}\p{Cs}]/u.test(name) ? 'its name has control characters' : undefined;
}

/** Several clients take more than one format for the same file; the ending decides. */
export function formatOf(client: Client, file: string | undefined): FileFormat {
  const ending = /\.(jsonc?|toml|ya?ml|md)$/i.exec(file ?? '')?.[1]?.toLowerCase();
  if (ending === 'toml') return 'toml';
  if (ending === 'yaml' || ending === 'yml') return 'yaml';
  if (ending === 'md') return 'frontmatter';
  return ending === undefined ? client.format : 'json';
}

const failedResult = (problem: string): ImportResult => ({
  servers: [],
  skipped: [],
  problems: [problem],
  inputs: [],
});
