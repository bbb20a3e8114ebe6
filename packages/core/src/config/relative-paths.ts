/**
 * Finds parts of a local server's entry that depend on the current directory. Pure: file system access is passed in.
 */
import { isAbsolute } from 'node:path';
import { isRecord } from '../json/is-record.js';

/** A path that starts with a dot, alone, after `=` or in a shell line. */
const DOTTED = /(^|[\s=;&|"'(])\.{1,2}([\\/]|$|[\s"';&|)])/;

/** In the order of the entry; `exists` tells which words without a dot are files. */
export function findRelativePaths(
  { command, args, env, sandbox }: Readonly<Record<string, unknown>>,
  exists: (path: string) => boolean = () => false,
): string[] {
  const isFile = (word: string): boolean => {
    const path = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word;
    return path !== '' && !path.startsWith('-') && !isAbsolute(path) && exists(path);
  };
  const { read, write } = sandboxPaths(sandbox);
  return [
    ...strings(command).filter(isRelativeCommand),
    ...strings(args).filter((word) => DOTTED.test(word) || isFile(word)),
    ...strings(isRecord(env) ? Object.values(env) : []).filter((word) => DOTTED.test(word)),
    ...[...strings(read), ...strings(write)].filter((word) => !isAbsolute(word) && !/^[~$]/.test(word)),
  ];
}

/** A relative path, not a name that is looked up in PATH. */
export const isRelativeCommand = (command: string): boolean =>
  /[\\/]/.test(command) && !isAbsolute(command) && !/^\$\{|^[A-Za-z]:[\\/]/.test(command);

/** The paths of a sandbox; the default is the working directory. */
function sandboxPaths(sandbox: unknown): { readonly read?: unknown; readonly write?: unknown } {
  if (sandbox === undefined || sandbox === false || sandbox === 'strict') return {};
  const { read, write, preset } = isRecord(sandbox) ? sandbox : {};
  return { read: read ?? (preset === 'strict' ? [] : '.'), write };
}

const strings = (value: unknown): string[] =>
  [value].flat().filter((one): one is string => typeof one === 'string');
