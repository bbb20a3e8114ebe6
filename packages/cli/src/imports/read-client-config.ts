/** Reads a client's file: every entry becomes a server of ours or is left out with a reason. */
import type { Client, LocatedEntry, ReadOptions } from './client.js';
import { clientById } from './clients.js';
import type { Dialect } from './dialect.js';
import { generic, recognise } from './generic.js';
import type { ImportedServer, ImportResult, SkippedServer } from './imported-server.js';
import { locateEntries } from './locate.js';
import { type FileFormat, parseText } from './parse-text.js';
import { isEntry } from './plain-value.js';
import { readEntry } from './read-entry.js';

/** Never throws: what is wrong with the file is in `problems`, with an entry in `skipped`. */
export function readClientConfig(clientId: string, text: string, options: ReadOptions = {}): ImportResult {
  const client = clientById(clientId) ?? (clientId === generic.id ? generic : undefined);
  if (client === undefined) return failed(`there is no client "${clientId}"`);
  const parsed = parseText(text, formatOf(client, options.file), true);
  if ('problem' in parsed) return failed(parsed.problem);
  if (parsed.value === undefined) return failed('the file is empty');
  if (!isEntry(parsed.value) && !(client === generic && Array.isArray(parsed.value)))
    return failed('the file does not hold a map of settings');
  return readDocument(client, parsed.value, options);
}

/** A file whose client is not known: the shape tells. */
export function readUnknownConfig(text: string, options: ReadOptions = {}): ImportResult {
  return readClientConfig(generic.id, text, options);
}

function readDocument(client: Client, root: unknown, options: ReadOptions): ImportResult {
  const known = client === generic ? recognise(root) : undefined;
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
  const reason = refused ?? nameFault(name);
  if (reason !== undefined) return { reason };
  if (!isEntry(value)) return { reason: 'is not a map of settings' };
  const read = readEntry(value, dialect);
  if ('reason' in read) return read;
  const scope = located.scope ?? options.scope;
  const trust = located.trust ?? (scope === 'project' ? ('ask' as const) : undefined);
  const excludeTools = [...(read.config.excludeTools ?? []), ...(located.excludeTools ?? [])];
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
      ...(offBy === undefined ? [] : [`switched off by ${offBy}`]),
    ],
    ...(Object.keys(read.extra).length === 0 ? {} : { extra: read.extra }),
    ...(scope === undefined ? {} : { scope }),
    ...(located.project === undefined ? {} : { project: located.project }),
    ...(trust === undefined ? {} : { trust }),
  };
}

/** What our own configuration refuses as a name, and what could do harm as a key. */
export function nameFault(name: string): string | undefined {
  if (name === '__proto__') return 'its name cannot be used as a key';
  if (name === 'native') return 'the name "native" is kept for the functions of the host';
  if (name === '' || name !== name.trim()) return 'its name is empty or has spaces around it';
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

const failed = (problem: string): ImportResult => ({
  servers: [],
  skipped: [],
  problems: [problem],
  inputs: [],
});
