/**
 * Edits the configuration file: one writer at a time, atomically, preserving comments, order and layout.
 * edit-servers.ts decides how the text changes.
 */
import { dirname, resolve } from 'node:path';
import { errorCode, TurnbuckleError } from '../../errors.js';
import { contentOf, replaceFile } from '../../files/atomic-file.js';
import { type FileLockOptions, withFileLock } from '../../files/file-lock.js';
import { makeDirectory } from '../../files/make-directory.js';
import { probePath } from '../../files/read-file.js';
import { realTarget } from '../../files/real-target.js';
import { isRecord } from '../../json/is-record.js';
import { nearest } from '../../text/nearest.js';
import { checkFileSize, checkPartSize } from '../schema/file-limits.js';
import { type EditableServer, listServers, removeServer, setKey, setServer } from './edit-servers.js';
import { type KeyPath, parseJsonc, preserveBom } from './jsonc-document.js';

/** If another program saves during an edit, the edit is retried, but not forever. */
const MAX_ATTEMPTS = 20;

/**
 * Reads the file ('' if missing), changes the text and replaces the file; false if the text is unchanged. Throws
 * CONFIG_INVALID and leaves the file untouched if it cannot be read, written or parsed, before or after the change.
 * `change` may run more than once. Edits of one process run in order.
 */
export async function editConfig(
  path: string,
  change: (text: string) => string,
  options: FileLockOptions = {},
): Promise<boolean> {
  try {
    await runInOrder(path, () => probePath(resolve(path)));
    const target = realTarget(path);
    makeDirectory(dirname(target));
    return await withFileLock(target, () => replaceChanged(target, change), options);
  } catch (error) {
    throw withFileName(path, error);
  }
}

/** The pending check of each path: edits run in the order of their requests, whichever check ends first. */
const pendingChecks = new Map<string, Promise<void>>();

async function runInOrder(path: string, look: () => Promise<void>): Promise<void> {
  const before = pendingChecks.get(path);
  const looking = look();
  const both = Promise.allSettled([before, looking]).then(() => undefined);
  pendingChecks.set(path, both);
  await both;
  if (pendingChecks.get(path) === both) pendingChecks.delete(path);
  await looking;
}

export type ServerEdit =
  /** A server that must not exist yet. */
  | { readonly action: 'add'; readonly name: string; readonly config: Readonly<Record<string, unknown>> }
  /** A new or existing server. */
  | { readonly action: 'set'; readonly name: string; readonly config: Readonly<Record<string, unknown>> }
  /** One key of a server; undefined removes it. */
  | { readonly action: 'set-key'; readonly name: string; readonly key: KeyPath; readonly value: unknown }
  | { readonly action: 'remove' | 'enable' | 'disable'; readonly name: string };

/**
 * Applies all edits in order, or none: NAME_TAKEN for adding an existing server, SERVER_UNKNOWN for changing a
 * missing one. False if nothing changed.
 */
export function editServers(
  path: string,
  edits: readonly ServerEdit[],
  { confirm, ...options }: EditOptions = {},
): Promise<boolean> {
  const change = (text: string): string => {
    confirm?.();
    const result = edits.reduce(applyEdit, text);
    // A file that is already too large may shrink step by step.
    if (result.length > text.length) checkFileSize(result, listServers(result).length);
    return result;
  };
  return editConfig(path, change, options);
}

interface EditOptions extends FileLockOptions {
  /** Called right before the file is changed; throws if the change is no longer wanted. */
  readonly confirm?: (() => void) | undefined;
}

function applyEdit(text: string, edit: ServerEdit): string {
  const { name } = edit;
  if (edit.action === 'set' || edit.action === 'add') checkPartSize(edit.config);
  if (edit.action === 'set') return setServer(text, name, edit.config);
  if (edit.action === 'add') {
    if (!listServers(text).some((server) => server.name === name)) return setServer(text, name, edit.config);
    throw new TurnbuckleError('NAME_TAKEN', `Server "${name}" already exists.`, {
      server: name,
      hint: 'Choose another name, or edit the existing server.',
    });
  }
  const server = requireServer(text, name);
  if (edit.action === 'set-key') checkPartSize(edit.value);
  if (edit.action === 'remove') return removeServer(text, name);
  if (edit.action === 'set-key') return setKey(text, [...server.path, ...edit.key], edit.value);
  return setEnabled(text, server, edit.action === 'enable');
}

function setEnabled(text: string, { path, entry }: EditableServer, enabled: boolean): string {
  const written = isRecord(entry) ? entry : {};
  // Files of other programs use `disabled`; having both keys would be ambiguous.
  if (typeof written.disabled === 'boolean') return setKey(text, [...path, 'disabled'], !enabled);
  if (written.enabled === undefined && enabled) return text;
  return setKey(text, [...path, 'enabled'], enabled);
}

function requireServer(text: string, name: string): EditableServer {
  const servers = listServers(text);
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  const names = servers.map((server) => server.name);
  const close = nearest(name, names);
  throw new TurnbuckleError('SERVER_UNKNOWN', `The configuration has no server "${name}".`, {
    server: name,
    hint:
      close === undefined ? `Configured servers: ${names.join(', ') || 'none'}.` : `Did you mean "${close}"?`,
  });
}

async function replaceChanged(target: string, change: (text: string) => string): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const expected = await contentOf(target);
    const text = decode(expected);
    assertParses(text);
    const result = change(text);
    if (result === text) return false;
    assertParses(result);
    if (await replaceFile(target, result, { expected })) return true;
  }
  throw new TurnbuckleError('OVERLOADED', `Cannot edit ${target} because the file keeps changing on disk.`, {
    hint: 'Another program keeps writing to the file. Stop that program, then try again.',
    data: { file: target },
  });
}

function assertParses(text: string): void {
  preserveBom(text, (body) => {
    parseJsonc(body);
    return body;
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new TurnbuckleError('CONFIG_INVALID', 'the file is not UTF-8 text', {
      hint: 'The file was not changed. Save it as UTF-8, then try again.',
      cause,
    });
  }
}

/** Adds the file's name to the error, whichever part of the edit it comes from. */
function withFileName(file: string, error: unknown): unknown {
  if (error instanceof TurnbuckleError) {
    if (error.data?.file !== undefined) return error;
    const { code, message, hint, server, cause } = error;
    const text = code === 'CONFIG_INVALID' ? `Cannot edit configuration file ${file}: ${message}` : message;
    return new TurnbuckleError(code, text, { hint, server, cause, data: { ...error.data, file } });
  }
  const reason = errorCode(error);
  if (reason === undefined) return error;
  return new TurnbuckleError('CONFIG_INVALID', `Cannot edit configuration file ${file} (${reason}).`, {
    hint: 'Make sure that the file is readable and its directory is writable.',
    cause: error,
    data: { file, reason },
  });
}
