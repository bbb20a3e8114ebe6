/**
 * All meanings that an address may have to different readers: a URL parser, a program that strips `file://`, one
 * that decodes twice. `ask` and `deny` rules check all of them; the address is sent as it was written.
 */
import { compileGlob, type Glob, mapPattern } from '../text/glob.js';
import { trimBlanks } from './blanks.js';

export interface AddressOptions {
  /** Whether file names are case-insensitive. */
  readonly foldCase: boolean;
}

/** Longer addresses are not compared: they match every `ask` and `deny`. */
const MAX_ADDRESS_LENGTH = 8_192;
/** An address with more readings than this is assumed to hide something. */
const MAX_FORMS = 64;
const MAX_FORM_CHARACTERS = 262_144;
const MARKS_IN_A_ROW = /\p{M}{33}/u;
const PORTS: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443', ftp: '21' };
const PLATFORM_OPTIONS: AddressOptions = { foldCase: /^(?:win32|darwin|cygwin)$/.test(process.platform) };

/**
 * Matches every address that is or may mean one that the pattern matches. In doubt it matches. For `ask` and
 * `deny`.
 */
export function wideAddressGlob(pattern: string, options: AddressOptions = PLATFORM_OPTIONS): Glob {
  const globs = possiblePatterns(pattern, options).map((one) => compileGlob(one, { crossSlashes: true }));
  return (address) => {
    const meant = possibleAddresses(address, options);
    return meant === undefined || meant.some((one) => globs.some((glob) => glob(one)));
  };
}

/**
 * Everything that the address may mean, itself first; undefined if that cannot be determined. The last result is
 * cached.
 */
export const possibleAddresses = (() => {
  let last: { text: string; foldCase: boolean; meant: readonly string[] | undefined } | undefined;
  return (text: string, { foldCase }: AddressOptions = PLATFORM_OPTIONS): readonly string[] | undefined => {
    // Not cached either: it would be held until another address is looked up.
    if (text.length > MAX_ADDRESS_LENGTH) return undefined;
    if (last?.text !== text || last.foldCase !== foldCase)
      last = { text, foldCase, meant: findPossibleAddresses(text, { foldCase }) };
    return last.meant;
  };
})();

/** What readers do to an address, in any order: one may continue where another stops. */
const NORMALIZATIONS: readonly ((text: string, options: AddressOptions) => string)[] = [
  decode,
  canonicalize,
  // A reader that does not decode does not see percent-encoded steps, and knows no queries.
  (text, options) => canonicalize(text, options, PLAIN),
  (text, options) => canonicalize(text, options, PLAIN_WITH_BACKSLASHES),
  // URL parsers see an empty segment between two slashes, and `..` removes that one.
  (text) => (URL.canParse(text) ? new URL(text).href : text),
  // A reader that knows no schemes treats the whole text as a path.
  (text, options) => (SCHEME.test(text) ? text : canonicalize(`file:${text}`, options)),
  (text) => text.replace(/[?#].*$/s, ''),
  // For some readers a text ends at its first NUL, others drop the NUL.
  (text) => text.replace(/\0.*$/s, ''),
  (text) => text.replaceAll('\0', ''),
  // A reader that uses only the path of a file address ignores its host.
  (text) => text.replace(/^file:\/\/[^/]+(?=\/)/, 'file://'),
  // Another gateway of this kind gives an address that two of its servers have the name of the server.
  (text) => text.replace(OF_GATEWAY, ''),
  // Some systems drop trailing dots and spaces of a name.
  (text) => text.replace(/(?<=[^/. ])[. ]+(?=\/|$)/g, ''),
];

function findPossibleAddresses(text: string, options: AddressOptions): readonly string[] | undefined {
  const meant = new Set([text]);
  // Iterating over a set includes the items added meanwhile.
  let characters = 0;
  for (const form of meant) {
    characters += form.length;
    // Sorting combining marks takes quadratic time, and no real name has that many.
    if (MARKS_IN_A_ROW.test(form)) return undefined;
    for (const read of NORMALIZATIONS) meant.add(read(form, options));
    if (meant.size > MAX_FORMS || characters > MAX_FORM_CHARACTERS) return undefined;
  }
  // A directory is the same with and without a trailing slash.
  return [
    ...new Set(
      [...meant].flatMap((form) => {
        const bare = form.slice(0, endWithoutTrailing(form, isSlash));
        return [form, `${bare}/`, bare];
      }),
    ),
  ];
}

/** The pattern as written, and normalized like the addresses it is compared with. */
export function possiblePatterns(
  pattern: string,
  options: AddressOptions = PLATFORM_OPTIONS,
): readonly string[] {
  const meant = new Set([pattern]);
  for (const form of meant) {
    meant.add(mapPattern(form, decode));
    meant.add(mapPattern(form, (text) => canonicalize(text, options)));
    if (meant.size > MAX_FORMS) break;
  }
  return [...meant];
}

/** For bytes that are not UTF-8, what a lenient decoder makes of them: overlong ASCII, and single bytes. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[\da-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run
        .replace(/%(c[01])%([89ab][\da-f])/gi, (_, high: string, low: string) =>
          String.fromCharCode(((Number.parseInt(high, 16) & 1) << 6) | (Number.parseInt(low, 16) & 0x3f)),
        )
        .replace(/%([0-7][\da-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    }
  });
}

/** Whether a text can be an address: it starts with a scheme of at least two letters, because `C:` is a drive. */
export const isAddress = (text: string): boolean => /^[a-z][a-z\d+.\t\n\r-]+:/i.test(trimBlanks(text));

/** The path of a file address, on systems with drives too. Empty for any other address. */
export function pathsIn(address: string): readonly string[] {
  if (!address.startsWith(FILE)) return [];
  // A reader that strips only the scheme keeps the host in the path.
  const path = `/${address.slice(FILE.length).replace(/^\//, '')}`;
  return /^\/[a-z]:/i.test(path) ? [path, path.slice(1)] : [path];
}

const FILE = 'file://';
const OF_GATEWAY = /^turnbuckle:\/\/[^/]*\//i;
const SCHEME = /^([a-z][a-z\d+.-]*):(.*)$/is;

const isSlash = (code: number): boolean => code === 0x2f;
const isDot = (code: number): boolean => code === 0x2e;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/**
 * The index where a text ends without these. A regular expression anchored at the end would restart at each such
 * run in the middle.
 */
function endWithoutTrailing(text: string, isOne: (code: number) => boolean, from = text.length): number {
  let end = from;
  while (end > 0 && isOne(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

/**
 * One normal form of an address, as URL parsers make it, and slightly stricter. A text without a scheme is
 * unchanged.
 */
function canonicalize(text: string, { foldCase }: AddressOptions, reader = PARSER): string {
  const cleaned = trimBlanks(text.replace(/[\t\n\r]/g, '')).normalize('NFC');
  const [, before, after] = SCHEME.exec(cleaned) ?? [];
  if (before === undefined || after === undefined) return cleaned;
  const scheme = before.toLowerCase();
  const [, place = '', tail = ''] = reader.parts.exec(after) ?? [];
  const rest = reader.backslashes ? place.replaceAll('\\', '/') : place;
  if (scheme === 'file') {
    const [host, path] = splitAuthority(rest.startsWith('//') ? rest : `///${rest}`);
    const named = resolveDots(`/${path}`, reader).replace(/^\/([a-z])\|(?=\/|$)/i, '/$1:');
    const form = `file://${host === 'localhost' ? '' : host}${named}${tail}`;
    return foldCase ? form.toLowerCase() : form;
  }
  const port = Object.hasOwn(PORTS, scheme) ? PORTS[scheme] : undefined;
  if (port !== undefined) {
    const [host, path] = splitAuthority(`//${rest.replace(/^\/*/, '')}`);
    return `${scheme}://${normalizeHost(host, port)}${resolveDots(`/${path}`, reader)}${tail}`;
  }
  if (!rest.startsWith('//')) return `${scheme}:${resolveDots(rest, reader)}${tail}`;
  const [host, path] = splitAuthority(rest);
  return `${scheme}://${host}${resolveDots(path, reader)}${tail}`;
}

/** User info does not change where an address points. */
function splitAuthority(text: string): readonly [host: string, path: string] {
  const [, authority = '', path = ''] = /^\/\/([^/]*)(.*)$/s.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  return [withoutTrailingDots(host), path];
}

/** Normalizes the host name; a port after it stays. */
function withoutTrailingDots(host: string): string {
  const digits = endWithoutTrailing(host, isDigit);
  const name = host.charCodeAt(digits - 1) === COLON ? digits - 1 : host.length;
  return host.slice(0, endWithoutTrailing(host, isDot, name)) + host.slice(name);
}

const COLON = 0x3a;

function normalizeHost(host: string, port: string): string {
  const named = host.endsWith(`:${port}`) ? host.slice(0, -port.length - 1) : host.replace(/:$/, '');
  const url = `ws://${named}`;
  return URL.canParse(url) ? new URL(url).host : named;
}

/** How a path is split. */
interface PathSyntax {
  /** The path, and its query. */
  readonly parts: RegExp;
  /** Whether backslashes separate too. */
  readonly backslashes: boolean;
  readonly currentDirectory: RegExp;
  readonly parentDirectory: RegExp;
  /** A path with none of these, and no repeated slashes, stays unchanged. */
  readonly needsResolving: RegExp;
}

const PLAIN: PathSyntax = {
  parts: /^(.*)$/s,
  backslashes: false,
  currentDirectory: /^\.?$/,
  parentDirectory: /^\.\.$/,
  needsResolving: /\/\/|(?:^|\/)\.{1,2}(?:\/|$)/,
};
const PLAIN_WITH_BACKSLASHES: PathSyntax = { ...PLAIN, backslashes: true };
const PARSER: PathSyntax = {
  parts: /^([^?#]*)(.*)$/s,
  backslashes: true,
  currentDirectory: /^(?:\.|%2e)?$/i,
  parentDirectory: /^(?:\.|%2e){2}$/i,
  needsResolving: /\/\/|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i,
};

/** Resolves parent steps and merges repeated slashes. */
function resolveDots(
  path: string,
  { needsResolving, currentDirectory, parentDirectory }: PathSyntax,
): string {
  if (!needsResolving.test(path)) return path;
  const kept: string[] = [];
  let isDirectory = false;
  for (const part of path.split('/')) {
    const isUp = parentDirectory.test(part);
    isDirectory = isUp || currentDirectory.test(part);
    if (isUp) kept.pop();
    else if (!isDirectory) kept.push(part);
  }
  const end = isDirectory && kept.length > 0 ? '/' : '';
  return `${path.startsWith('/') ? '/' : ''}${kept.join('/')}${end}`;
}
