/** What in the entry of a local server means another file in every directory. Pure: the file system is handed in. */
import { isAbsolute } from 'node:path';
import { isRecord } from '../is-record.js';

/** A path with a dot in front, alone, after `=` or in a line for a shell. */
const DOTTED = /(^|[\s=;&|"'(])\.{1,2}([\\/]|$|[\s"';&|)])/;

/** In the order of the entry; `exists` says which words without a dot are files where it was written. */
export function relativeWords(
  { command, args, env, sandbox }: Readonly<Record<string, unknown>>,
  exists: (path: string) => boolean = () => false,
): string[] {
  const isFile = (word: string): boolean => {
    const path = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word;
    return path !== '' && !path.startsWith('-') && !isAbsolute(path) && exists(path);
  };
  const { read, write } = confinedTo(sandbox);
  return [
    ...texts(command).filter(isRelativeCommand),
    ...texts(args).filter((word) => DOTTED.test(word) || isFile(word)),
    ...texts(isRecord(env) ? Object.values(env) : []).filter((word) => DOTTED.test(word)),
    ...[...texts(read), ...texts(write)].filter((word) => !isAbsolute(word) && !/^[~$]/.test(word)),
  ];
}

/** Not a name that is looked up in PATH: a path, and not a whole one. */
export const isRelativeCommand = (command: string): boolean =>
  /[\\/]/.test(command) && !isAbsolute(command) && !/^\$\{|^[A-Za-z]:[\\/]/.test(command);

/** What a sandbox lets it see; if it does not say, that is its working directory. */
function confinedTo(sandbox: unknown): { readonly read?: unknown; readonly write?: unknown } {
  if (sandbox === undefined || sandbox === false || sandbox === 'strict') return {};
  const { read, write, preset } = isRecord(sandbox) ? sandbox : {};
  return { read: read ?? (preset === 'strict' ? [] : '.'), write };
}

const texts = (value: unknown): string[] =>
  [value].flat().filter((one): one is string => typeof one === 'string');
