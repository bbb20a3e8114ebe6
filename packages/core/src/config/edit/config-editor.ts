/**
 * Edits of the configuration file by program: one writer at a time, whole or not at all, and with the
 * user's comments, order and layout. What an edit does to the text is decided in edit-servers.ts.
 */
import { dirname, resolve } from 'node:path';
import { TurnbuckleError } from '../../errors.js';
import { isRecord } from '../../is-record.js';
import { checkFileSize, checkPartSize } from '../file-limits.js';
import { nearest } from '../nearest.js';
import { reach } from '../read-file.js';
import { contentOf, replaceFile } from './atomic-file.js';
import { removeServer, setKey, setServer, type WrittenServer, writtenServers } from './edit-servers.js';
import { type FileLockOptions, withFileLock } from './file-lock.js';
import { behindBom, type KeyPath, parseDocument } from './jsonc-document.js';
import { makeDirectory } from './make-directory.js';
import { errorCode } from './process-identity.js';
import { realTarget } from './real-target.js';

/** An editor that saves at the very moment of an edit makes us start over, but not for ever. */
const MAX_ATTEMPTS = 20;

/**
 * Reads the file ('' when there is none), has the text changed and replaces the file; false when the change
 * left it as it was. Throws CONFIG_INVALID, the file untouched, when it cannot be read, written or parsed,
 * before or after the change. `change` may run more than once. Edits of one process run in their order.
 */
export async function editConfig(
  path: string,
  change: (text: string) => string,
  options: FileLockOptions = {},
): Promise<boolean> {
  try {
    await inOrder(path, () => reach(resolve(path)));
    const target = realTarget(path);
    makeDirectory(dirname(target));
    return await withFileLock(target, () => replaceChanged(target, change), options);
  } catch (error) {
    throw named(path, error);
  }
}

/** The last look for each path: edits come to their turn as they were asked for, whichever look ends first. */
const lastLooks = new Map<string, Promise<void>>();

async function inOrder(path: string, look: () => Promise<void>): Promise<void> {
  const before = lastLooks.get(path);
  const looking = look();
  const both = Promise.allSettled([before, looking]).then(() => undefined);
  lastLooks.set(path, both);
  await both;
  if (lastLooks.get(path) === both) lastLooks.delete(path);
  await looking;
}

export type ServerEdit =
  /** A server that must not be there yet. */
  | { readonly action: 'add'; readonly name: string; readonly config: Readonly<Record<string, unknown>> }
  /** A server, there already or not. */
  | { readonly action: 'set'; readonly name: string; readonly config: Readonly<Record<string, unknown>> }
  /** One key of a server; undefined removes the key. */
  | { readonly action: 'set-key'; readonly name: string; readonly key: KeyPath; readonly value: unknown }
  | { readonly action: 'remove' | 'enable' | 'disable'; readonly name: string };

/**
 * All of the edits in their order, or none: NAME_TAKEN for adding a server that is there, SERVER_UNKNOWN for
 * changing one that is not. False when the file already said all that.
 */
export function editServers(
  path: string,
  edits: readonly ServerEdit[],
  { confirm, ...options }: EditOptions = {},
): Promise<boolean> {
  const change = (text: string): string => {
    confirm?.();
    const result = edits.reduce(applyEdit, text);
    // What is too large already may become smaller bit by bit.
    if (result.length > text.length) checkFileSize(result, writtenServers(result).length);
    return result;
  };
  return editConfig(path, change, options);
}

interface EditOptions extends FileLockOptions {
  /** Called when its turn has come, right before the file is changed: throws where that is not wanted any more. */
  readonly confirm?: (() => void) | undefined;
}

function applyEdit(text: string, edit: ServerEdit): string {
  const { name } = edit;
  if (edit.action === 'set' || edit.action === 'add') checkPartSize(edit.config);
  if (edit.action === 'set') return setServer(text, name, edit.config);
  if (edit.action === 'add') {
    if (!writtenServers(text).some((server) => server.name === name))
      return setServer(text, name, edit.config);
    throw new TurnbuckleError('NAME_TAKEN', `There is a server "${name}" already.`, {
      server: name,
      hint: 'Choose another name, or change the server that is there.',
    });
  }
  const server = existing(text, name);
  if (edit.action === 'set-key') checkPartSize(edit.value);
  if (edit.action === 'remove') return removeServer(text, name);
  if (edit.action === 'set-key') return setKey(text, [...server.path, ...edit.key], edit.value);
  return setEnabled(text, server, edit.action === 'enable');
}

function setEnabled(text: string, { path, entry }: WrittenServer, enabled: boolean): string {
  const written = isRecord(entry) ? entry : {};
  // Files made for other programs say `disabled`; saying both would be a riddle.
  if (typeof written.disabled === 'boolean') return setKey(text, [...path, 'disabled'], !enabled);
  if (written.enabled === undefined && enabled) return text;
  return setKey(text, [...path, 'enabled'], enabled);
}

function existing(text: string, name: string): WrittenServer {
  const servers = writtenServers(text);
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  const names = servers.map((server) => server.name);
  const close = nearest(name, names);
  throw new TurnbuckleError('SERVER_UNKNOWN', `The configuration has no server "${name}".`, {
    server: name,
    hint: close === undefined ? `It has: ${names.join(', ') || 'none'}.` : `Did you mean "${close}"?`,
  });
}

async function replaceChanged(target: string, change: (text: string) => string): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const expected = await contentOf(target);
    const text = decode(expected);
    check(text);
    const result = change(text);
    if (result === text) return false;
    check(result);
    if (await replaceFile(target, result, { expected })) return true;
  }
  throw new TurnbuckleError('OVERLOADED', `The file ${target} changes faster than it can be edited.`, {
    hint: 'Something other than Turnbuckle writes it again and again.',
    data: { file: target },
  });
}

function check(text: string): void {
  behindBom(text, (body) => {
    parseDocument(body);
    return body;
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new TurnbuckleError('CONFIG_INVALID', 'it is not UTF-8 text', {
      hint: 'Save it as UTF-8; it was left as it is.',
      cause,
    });
  }
}

/** The error with the file's name in it, whatever part of the edit it comes from. */
function named(file: string, error: unknown): unknown {
  if (error instanceof TurnbuckleError) {
    if (error.data?.file !== undefined) return error;
    const { code, message, hint, server, cause } = error;
    const text =
      code === 'CONFIG_INVALID' ? `The configuration file ${file} cannot be edited: ${message}` : message;
    return new TurnbuckleError(code, text, { hint, server, cause, data: { ...error.data, file } });
  }
  const reason = errorCode(error);
  if (reason === undefined) return error;
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `The configuration file ${file} cannot be edited (${reason}).`,
    {
      hint: 'The file must be readable, and its directory writable.',
      cause: error,
      data: { file, reason },
    },
  );
}
