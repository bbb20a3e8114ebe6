/** One server in a registry: parsed from an untrusted record, with a limit on everything. */
import { isRecord } from 'turnbuckle/host';
import type * as z from 'zod/mini';
import { type RecordMeta, readMeta, writeMeta } from './record-meta.js';
import {
  optionalText,
  PACKAGE_SCHEMA,
  REMOTE_SCHEMA,
  REPOSITORY_SCHEMA,
  type RecordPackage,
  type RecordRemote,
  type RecordRepository,
} from './record-schema.js';

/** All text in it is untrusted: escape it when it is shown. */
export interface ServerRecord extends RecordMeta {
  /** In reverse-DNS form: `io.github.user/server`. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** Of its package if the record has none, otherwise `0.0.0`. */
  readonly version: string;
  readonly repository?: RecordRepository;
  readonly websiteUrl?: string;
  /** Those that can be used: a package with an invalid argument is left out. */
  readonly packages: readonly RecordPackage[];
  readonly remotes: readonly RecordRemote[];
}

const MAX_SERVER_NAME_LENGTH = 200;
/** Stricter than the schema: no part is `..`, since names become parts of paths. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9.-]*\/[a-zA-Z0-9_][a-zA-Z0-9._-]*$/;
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,254}$/;
const UNKNOWN_VERSION = '0.0.0';
const MAX_OPTIONS = 20;
const MAX_DESCRIPTION_LENGTH = 2_000;
const TITLE = optionalText(200);

export const isServerName = (text: string): boolean =>
  text.length <= MAX_SERVER_NAME_LENGTH && NAME.test(text);

/** An exact version; neither a path nor a range. */
export const isServerVersion = (text: string): boolean => VERSION.test(text);

/** The record of an entry of the API, `{ server, _meta }`, or of a bare `server.json`; undefined if it is invalid. */
export function parseServerRecord(entry: unknown): ServerRecord | undefined {
  if (!isRecord(entry)) return undefined;
  const server = isRecord(entry.server) ? entry.server : entry;
  const { name, description, version: written } = server;
  if (typeof name !== 'string' || !isServerName(name)) return undefined;
  if (typeof description !== 'string') return undefined;
  if (written !== undefined && (typeof written !== 'string' || !isServerVersion(written))) return undefined;
  const packages = parseEach(PACKAGE_SCHEMA, server.packages);
  const title = TITLE.safeParse(server.title).data;
  const repository = REPOSITORY_SCHEMA.safeParse(server.repository).data;
  const { websiteUrl } = server;
  return {
    name,
    ...(title !== undefined && { title }),
    description: description.slice(0, MAX_DESCRIPTION_LENGTH),
    version: written ?? packages.find(({ version }) => version !== undefined)?.version ?? UNKNOWN_VERSION,
    ...(repository !== undefined && { repository }),
    ...(isWebAddress(websiteUrl) && { websiteUrl }),
    packages,
    remotes: parseEach(REMOTE_SCHEMA, server.remotes),
    ...readMeta(server === entry ? undefined : entry._meta, server._meta, server.status),
  };
}

/** An entry that `parseServerRecord` reads as the same record. */
export function toEntry(record: ServerRecord): Readonly<Record<string, unknown>> {
  const { name, title, description, version, repository, websiteUrl, packages, remotes } = record;
  return {
    server: { name, title, description, version, repository, websiteUrl, packages, remotes },
    _meta: writeMeta(record),
  };
}

/** The valid ones of the first few. */
function parseEach<Schema extends z.ZodMiniType>(schema: Schema, items: unknown): Array<z.output<Schema>> {
  if (!Array.isArray(items)) return [];
  return items.slice(0, MAX_OPTIONS).flatMap((item) => {
    const { success, data } = schema.safeParse(item);
    return success ? [data] : [];
  });
}

const isWebAddress = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 1_024 && /^https?:\/\/[^\s\0]+$/.test(value);
