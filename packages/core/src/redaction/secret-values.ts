/** The values in a server's configuration, filled in, that nobody but the server may see. */
import { isRecord } from '../is-record.js';
import { isSecretName, looksGenerated } from '../text/secret-names.js';
import type { ServerConfig } from './schema.js';

const PLACES = new Set(['env', 'headers', 'auth', 'token', 'url', 'baseUrl']);

/** By name, by place and by look. Values of `env` and `headers` that are plain words under a plain name are none. */
export function secretValuesOf(config: ServerConfig): string[] {
  const members = Object.entries(config).filter(([key]) => PLACES.has(key));
  const args = config.type === 'stdio' ? config.args : [];
  return [...ofArguments(args), ...members.flatMap(([key, value]) => ofMember(key, value))];
}

function ofMember(key: string, value: unknown): string[] {
  if (typeof value === 'string') {
    if (isSecretName(key) || /key$/i.test(key)) return [value, ...ofAddress(value)];
    if (value.includes('://')) return ofAddress(value);
    return looksGenerated(value) ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((part) => ofMember(key, part));
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return [];
  return Object.entries(value).flatMap(([name, part]) => ofMember(name, part));
}

function ofArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const before = args[index - 1] ?? '';
    const cut = arg.indexOf('=');
    if (/^-[^=]*$/.test(before) && isSecretName(before)) return [arg];
    if (cut > 0 && isSecretName(arg.slice(0, cut))) return [arg.slice(cut + 1)];
    return ofMember('', arg);
  });
}

/** Name and password, values of the query and parts of the path that look like keys, as written and decoded. */
function ofAddress(text: string): string[] {
  const found = addressIn(text);
  if (found === undefined || !URL.canParse(found)) return [];
  const url = new URL(found);
  const query = [...url.searchParams].flatMap(([name, value]) =>
    isSecretName(name) || /key$/i.test(name) || looksGenerated(value) ? [value] : [],
  );
  const path = url.pathname.split('/').filter(looksGenerated);
  const user = url.password === '' || looksGenerated(url.username) ? [url.username] : [];
  const written = [...user, url.password, ...path];
  return [...query, ...written, ...written.map(decoded)].filter((value) => value !== '');
}

/** The first address in a text. Found by what all of them have: a pattern would look at a long text once for each letter. */
function addressIn(text: string): string | undefined {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    let start = at;
    while (start > 0 && /[a-z\d+.-]/i.test(text.charAt(start - 1))) start -= 1;
    while (start < at && !/[a-z]/i.test(text.charAt(start))) start += 1;
    if (start === at) continue;
    const [rest = ''] = /^\S*/.exec(text.slice(at + 3)) ?? [];
    if (rest !== '') return text.slice(start, at + 3) + rest;
  }
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
