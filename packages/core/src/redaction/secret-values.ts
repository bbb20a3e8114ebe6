/** The values in a resolved server configuration that only the server may see. */

import { isRecord } from '../json/is-record.js';
import { isSecretName, looksGenerated } from './secret-names.js';

/** A server's configuration, for any transport, or the credentials of one caller. */
type FilledConfig = object;

const SECRET_KEYS = new Set(['env', 'headers', 'auth', 'token', 'url', 'baseUrl']);

/**
 * By name, position and shape. Values of `env` and `headers` that are plain words under a plain name are not secrets.
 */
export function secretValuesOf(config: FilledConfig): string[] {
  const members = Object.entries(config).filter(([key]) => SECRET_KEYS.has(key));
  const args = 'args' in config && Array.isArray(config.args) ? config.args : [];
  return [...secretsInArguments(args), ...members.flatMap(([key, value]) => secretsInMember(key, value))];
}

/** The same for a configuration that may have placeholders, which are no secrets, with the credentials of all callers. */
export function writtenSecretsOf(config: FilledConfig): string[] {
  const { credentials } = config as { readonly credentials?: unknown };
  const own = isRecord(credentials) ? Object.values(credentials).filter(isRecord) : [];
  return [config, ...own].flatMap((one) => {
    const members = Object.entries(one).filter(([key]) => SECRET_KEYS.has(key) || key === 'args');
    return secretValuesOf(
      Object.fromEntries(members.map(([key, value]) => [key, withoutPlaceholders(value)])),
    );
  });
}

function withoutPlaceholders(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('${') ? '' : value;
  if (Array.isArray(value)) return value.map(withoutPlaceholders);
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutPlaceholders(part)]));
}

function secretsInMember(key: string, value: unknown): string[] {
  if (typeof value === 'string') {
    if (isSecretName(key) || /key$/i.test(key)) return [value, ...secretsInAddress(value)];
    if (value.includes('://')) return secretsInAddress(value);
    return looksGenerated(value) ? [value] : [];
  }
  if (Array.isArray(value)) return value.flatMap((part) => secretsInMember(key, part));
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return [];
  return Object.entries(value).flatMap(([name, part]) => secretsInMember(name, part));
}

function secretsInArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const before = args[index - 1] ?? '';
    const cut = arg.indexOf('=');
    if (/^-[^=]*$/.test(before) && isSecretName(before)) return [arg];
    if (cut > 0 && isSecretName(arg.slice(0, cut))) return [arg.slice(cut + 1)];
    return secretsInMember('', arg);
  });
}

/** User name and password, query values and path segments that look like keys, as written and decoded. */
function secretsInAddress(text: string): string[] {
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

/**
 * The first URL in a text. Found by what all URLs contain: a regular expression would scan a long text once for each
 * letter.
 */
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
