/**
 * What an address may mean to whoever reads it: a URL parser, a program that cuts `file://` off, one that decodes
 * twice. A guard looks at all of it; what is sent stays as it was written.
 */
import { compileGlob, type Glob, mapPattern } from './glob.js';

export interface AddressOptions {
  /** Whether files are found under their names in capitals too. */
  readonly foldCase: boolean;
}

/** Longer ones are compared with nothing: every guard takes them. */
const LONGEST = 8_192;
/** Who writes an address that can be read in more ways than this has something to hide. */
const MOST_FORMS = 64;
const MOST_CHARACTERS = 262_144;
const MARKS_IN_A_ROW = /\p{M}{33}/u;
const PORTS: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443', ftp: '21' };
const OWN: AddressOptions = { foldCase: /^(?:win32|darwin|cygwin)$/.test(process.platform) };

/** Fits every address that is or may mean one that the pattern fits, and more in doubt. For `ask` and `deny`. */
export function wideAddressGlob(pattern: string, options: AddressOptions = OWN): Glob {
  const globs = patternsMeant(pattern, options).map((one) => compileGlob(one, { crossSlashes: true }));
  return (address) => {
    const meant = addressesMeant(address, options);
    return meant === undefined || meant.some((one) => globs.some((glob) => glob(one)));
  };
}

/** Everything that the address may mean, itself first; undefined when there is no telling. The last one is remembered. */
export const addressesMeant = (() => {
  let last: { text: string; foldCase: boolean; meant: readonly string[] | undefined } | undefined;
  return (text: string, { foldCase }: AddressOptions = OWN): readonly string[] | undefined => {
    // Nor remembered: it would be kept for as long as no other is asked about.
    if (text.length > LONGEST) return undefined;
    if (last?.text !== text || last.foldCase !== foldCase)
      last = { text, foldCase, meant: findMeant(text, { foldCase }) };
    return last.meant;
  };
})();

/** What readers do to an address, in any order: what one of them leaves, another may take further. */
const READINGS: readonly ((text: string, options: AddressOptions) => string)[] = [
  decode,
  canonical,
  // Whoever decodes nothing takes no step for one that is written in percent signs, and knows of no queries.
  (text, options) => canonical(text, options, PLAIN),
  (text, options) => canonical(text, options, PLAIN_WITH_BACKSLASHES),
  // To a parser of URLs there is an empty name between two slashes, and `..` takes that one back.
  (text) => (URL.canParse(text) ? new URL(text).href : text),
  // Whoever knows no schemes takes the whole for a path.
  (text, options) => (SCHEME.test(text) ? text : canonical(`file:${text}`, options)),
  (text) => text.replace(/[?#].*$/s, ''),
  // To some a text ends at its first zero byte, to others that byte is not there.
  (text) => text.replace(/\0.*$/s, ''),
  (text) => text.replaceAll('\0', ''),
  // Whoever takes only the path of the address of a file does not look at its host.
  (text) => text.replace(/^file:\/\/[^/]+(?=\/)/, 'file://'),
  // Some systems leave out dots and spaces at the end of a name.
  (text) => text.replace(/(?<=[^/. ])[. ]+(?=\/|$)/g, ''),
];

function findMeant(text: string, options: AddressOptions): readonly string[] | undefined {
  const meant = new Set([text]);
  // A set is read to its end, what is added meanwhile included.
  let characters = 0;
  for (const form of meant) {
    characters += form.length;
    // Putting them in order takes a time that grows with the square of their number, and no name has so many.
    if (MARKS_IN_A_ROW.test(form)) return undefined;
    for (const read of READINGS) meant.add(read(form, options));
    if (meant.size > MOST_FORMS || characters > MOST_CHARACTERS) return undefined;
  }
  // A directory is one with its slash and without.
  return [
    ...new Set(
      [...meant].flatMap((form) => {
        const bare = form.slice(0, endWithout(form, isSlash));
        return [form, `${bare}/`, bare];
      }),
    ),
  ];
}

/** The pattern as it is written, and as the addresses are that are compared with it. */
export function patternsMeant(pattern: string, options: AddressOptions = OWN): readonly string[] {
  const meant = new Set([pattern]);
  for (const form of meant) {
    meant.add(mapPattern(form, decode));
    meant.add(mapPattern(form, (text) => canonical(text, options)));
    if (meant.size > MOST_FORMS) break;
  }
  return [...meant];
}

/** Where its bytes are no UTF-8, what a careless reader makes of them: ASCII in two bytes, and single ones. */
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

/** Whether a text can be one: it begins with a scheme, of two letters at least, for `C:` is none. */
export const isAddress = (text: string): boolean => /^[\s\0]*[a-z][a-z\d+.\t\n\r-]+:/i.test(text);

/** What the address of a file is for who takes paths, on systems with drives too. None of any other. */
export function pathsIn(address: string): readonly string[] {
  if (!address.startsWith(FILE)) return [];
  // Whoever cuts off only the scheme has the host in the path.
  const path = `/${address.slice(FILE.length).replace(/^\//, '')}`;
  return /^\/[a-z]:/i.test(path) ? [path, path.slice(1)] : [path];
}

const FILE = 'file://';
const SCHEME = /^([a-z][a-z\d+.-]*):(.*)$/is;

const isSlash = (code: number): boolean => code === 0x2f;
const isDot = (code: number): boolean => code === 0x2e;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** What parsers leave out at both ends. */
const isBlank = (code: number): boolean => code <= 0x20;

/** Where a text ends without these. A pattern that looks for its end would begin anew at each run in the middle. */
function endWithout(text: string, isOne: (code: number) => boolean, from = text.length): number {
  let end = from;
  while (end > 0 && isOne(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

function trimmed(text: string): string {
  const end = endWithout(text, isBlank);
  let start = 0;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  return text.slice(start, end);
}

/** One way to write an address, as parsers of URLs do and a little further. What has no scheme stays as it is. */
function canonical(text: string, { foldCase }: AddressOptions, reader = PARSER): string {
  const cleaned = trimmed(text.replace(/[\t\n\r]/g, '')).normalize('NFC');
  const [, before, after] = SCHEME.exec(cleaned) ?? [];
  if (before === undefined || after === undefined) return cleaned;
  const scheme = before.toLowerCase();
  const [, place = '', tail = ''] = reader.parts.exec(after) ?? [];
  const rest = reader.backslashes ? place.replaceAll('\\', '/') : place;
  if (scheme === 'file') {
    const [host, path] = split(rest.startsWith('//') ? rest : `///${rest}`);
    const named = climbed(`/${path}`, reader).replace(/^\/([a-z])\|(?=\/|$)/i, '/$1:');
    const form = `file://${host === 'localhost' ? '' : host}${named}${tail}`;
    return foldCase ? form.toLowerCase() : form;
  }
  const port = PORTS[scheme];
  if (port !== undefined) {
    const [host, path] = split(`//${rest.replace(/^\/*/, '')}`);
    return `${scheme}://${ofNetwork(host, port)}${climbed(`/${path}`, reader)}${tail}`;
  }
  if (!rest.startsWith('//')) return `${scheme}:${climbed(rest, reader)}${tail}`;
  const [host, path] = split(rest);
  return `${scheme}://${host}${climbed(path, reader)}${tail}`;
}

/** Who asks is no part of where it leads. */
function split(text: string): readonly [host: string, path: string] {
  const [, authority = '', path = ''] = /^\/\/([^/]*)(.*)$/s.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  return [withoutLastDots(host), path];
}

/** Of the name; a port behind it stays. */
function withoutLastDots(host: string): string {
  const digits = endWithout(host, isDigit);
  const name = host.charCodeAt(digits - 1) === COLON ? digits - 1 : host.length;
  return host.slice(0, endWithout(host, isDot, name)) + host.slice(name);
}

const COLON = 0x3a;

function ofNetwork(host: string, port: string): string {
  const named = host.endsWith(`:${port}`) ? host.slice(0, -port.length - 1) : host.replace(/:$/, '');
  const url = `ws://${named}`;
  return URL.canParse(url) ? new URL(url).host : named;
}

/** How a path is taken apart. */
interface Reader {
  /** The place, and what is asked of it. */
  readonly parts: RegExp;
  /** Whether they are slashes too. */
  readonly backslashes: boolean;
  readonly one: RegExp;
  readonly two: RegExp;
  /** What has none of it, and no slashes in a row, stays as it is. */
  readonly any: RegExp;
}

const PLAIN: Reader = {
  parts: /^(.*)$/s,
  backslashes: false,
  one: /^\.?$/,
  two: /^\.\.$/,
  any: /\/\/|(?:^|\/)\.{1,2}(?:\/|$)/,
};
const PLAIN_WITH_BACKSLASHES: Reader = { ...PLAIN, backslashes: true };
const PARSER: Reader = {
  parts: /^([^?#]*)(.*)$/s,
  backslashes: true,
  one: /^(?:\.|%2e)?$/i,
  two: /^(?:\.|%2e){2}$/i,
  any: /\/\/|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i,
};

/** Steps upwards taken, and slashes that stand in a row put together. */
function climbed(path: string, { any, one, two }: Reader): string {
  if (!any.test(path)) return path;
  const kept: string[] = [];
  let isDirectory = false;
  for (const part of path.split('/')) {
    const isUp = two.test(part);
    isDirectory = isUp || one.test(part);
    if (isUp) kept.pop();
    else if (!isDirectory) kept.push(part);
  }
  const end = isDirectory && kept.length > 0 ? '/' : '';
  return `${path.startsWith('/') ? '/' : ''}${kept.join('/')}${end}`;
}
