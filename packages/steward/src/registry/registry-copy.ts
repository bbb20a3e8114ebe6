/** A copy of a registry: a file, or a URL that ends in `.json`, in the form of the API or as a bare list of records. */
import { TurnbuckleError } from 'turnbuckle';
import { fileStampSync, readFileText, showLine, whyUnreadable } from 'turnbuckle/host';
import { createRecordCache, type RegistryContents } from './record-cache.js';
import { parseRegistryJson, type RecordList, readRecordList } from './record-list.js';
import { createCachedReader, type RecordSource } from './record-source.js';
import { findIn, type RemoteSourceOptions } from './registry-client.js';
import { malformed, newBudget, requestJson, unexpectedStatus } from './registry-request.js';
import { createSharedWork } from './shared-work.js';

const MAX_FILE_BYTES = 128 * 1024 * 1024;

/** A file, which is read again when it has changed. */
export function createFileCopy(file: string, now: () => number): RecordSource {
  const shared = createSharedWork<RegistryContents>();
  let held: { readonly stamp: string; readonly contents: RegistryContents } | undefined;
  const load = async (): Promise<RegistryContents> => {
    const stamp = stampOf(file);
    if (held === undefined || held.stamp !== stamp)
      held = { stamp, contents: contentsOf(await readFile(file), now()) };
    return held.contents;
  };
  const read = async (signal?: AbortSignal) => {
    const contents = await shared(load, signal);
    return { contents, note: contents.isCut ? cutNote(file, contents) : undefined };
  };
  return {
    name: file,
    read,
    find: async (wanted, signal) => findIn((await read(signal)).contents.records, wanted),
  };
}

/** A URL. A copy that has not changed since is not sent again, if its server supports that. */
export function createUrlCopy({ url, tools, cacheDir, ttlMs }: RemoteSourceOptions): RecordSource {
  const refresh = async (
    held: RegistryContents | undefined,
    signal: AbortSignal,
  ): Promise<RegistryContents> => {
    const headers: Record<string, string> = held?.etag === undefined ? {} : { 'if-none-match': held.etag };
    const request = { url, signal, headers, budget: newBudget(), isCopy: true };
    const { status, value, etag } = await requestJson(request, tools);
    const readAt = tools.now();
    if (status === 304 && held !== undefined) return { ...held, readAt };
    if (status !== 200) throw unexpectedStatus(url, status);
    const list = await readRecordList(value);
    if (list === undefined) throw malformed(url, 'is not a list of servers');
    return { ...contentsOf(list, readAt), etag };
  };
  const cache = createRecordCache(cacheDir, url.href);
  const { read } = createCachedReader({ name: url.href, cache, now: tools.now, ttlMs, refresh });
  return {
    name: url.href,
    read,
    find: async (wanted, signal) => findIn((await read(signal)).contents.records, wanted),
  };
}

/** A copy that has a next page is only a part of the registry. */
const contentsOf = ({ records, skipped, next }: RecordList, readAt: number): RegistryContents => ({
  records,
  skipped,
  readAt,
  fullAt: readAt,
  isCut: next !== undefined,
});

const cutNote = (name: string, { records }: RegistryContents): string =>
  `${name} contains only part of a registry: ${records.length} servers are used.`;

function stampOf(file: string): string {
  try {
    return fileStampSync(file) ?? 'missing';
  } catch (error) {
    throw unusable(file, whyUnreadable(error), error);
  }
}

async function readFile(file: string): Promise<RecordList> {
  const text = await readFileText(file, { maxBytes: MAX_FILE_BYTES }).catch((error: unknown) => {
    throw unusable(file, whyUnreadable(error), error);
  });
  const value = await parseRegistryJson(text).catch((error: unknown) => {
    throw unusable(file, 'it is not JSON', error);
  });
  const list = await readRecordList(value);
  if (list === undefined) throw unusable(file, 'it is not a list of servers');
  return list;
}

const unusable = (file: string, why: string, cause?: unknown): TurnbuckleError =>
  new TurnbuckleError('CONFIG_INVALID', `The registry copy ${showLine(file, 300)} cannot be used: ${why}.`, {
    hint: "Save a registry's response to GET /v0.1/servers in the file, or configure another file.",
    cause,
    data: { file },
  });
