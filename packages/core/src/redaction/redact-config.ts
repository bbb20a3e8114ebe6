/**
 * A server's configuration as it may be shown: values that can be secrets are replaced, names and placeholders stay.
 */

import { isRecord } from '../json/is-record.js';
import { MalformedPlaceholder, splitPlaceholders } from '../text/placeholders.js';
import { REDACTED, redactShapes } from './redact-shapes.js';
import { isSecretName, looksGenerated } from './secret-names.js';

/** Safe to print: an entry of a file, or its resolved form. Credentials in addresses and arguments are hidden too. */
export function redactConfig(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, redactMember(key, value)]));
}

function redactMember(key: string, value: unknown): unknown {
  // The user defines their content: any name may precede a secret.
  if ((key === 'env' || key === 'headers') && value !== undefined)
    return isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, hide(text)]))
      : hide(value);
  if (key === 'credentials' && isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([caller, own]) => [caller, redactOwn(own)]));
  if (key === 'args' && Array.isArray(value)) return redactArguments(value);
  if (key === 'server' && !isPlain(value)) return '[in-process server]';
  if (isSecretName(key) && !isRecord(value)) return hide(value);
  return redactPart(value);
}

/** The credentials of one caller; with `false`, it has none. */
const redactOwn = (own: unknown): unknown =>
  isRecord(own) ? redactConfig(own) : own === false ? own : hide(own);

function redactPart(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('://') ? redactAddress(value) : redactShapes(value);
  if (Array.isArray(value)) return value.map(redactPart);
  return isPlain(value) ? redactConfig(value) : value;
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;

/** Credentials are before the host, in the query, in the fragment, or in a path segment that looks generated. */
function redactAddress(text: string): string {
  const [, start = '', rest = text, query = ''] = /^([^?#]*?:\/\/)([^?#]*)(.*)$/s.exec(text) ?? [];
  const at =
    rest.indexOf('/') === -1 ? rest.lastIndexOf('@') : rest.slice(0, rest.indexOf('/')).lastIndexOf('@');
  const who = at === -1 ? '' : `${hide(rest.slice(0, at))}@`;
  const path = rest
    .slice(at + 1)
    .replace(/(?<=\/)[^/]+/g, (part) => (looksGenerated(part) ? hide(part) : part));
  return (
    start +
    who +
    path +
    query.replace(/(=)([^&#]*)/g, (_all, equals: string, value: string) => equals + hide(value))
  );
}

function redactArguments(args: readonly unknown[]): unknown[] {
  return args.map((arg, index) => {
    const before = args[index - 1];
    if (typeof arg !== 'string') return arg;
    if (typeof before === 'string' && /^-[^=]*$/.test(before) && isSecretName(before)) return hide(arg);
    const cut = arg.indexOf('=');
    if (cut > 0 && isSecretName(arg.slice(0, cut)))
      return `${arg.slice(0, cut + 1)}${hide(arg.slice(cut + 1))}`;
    return looksGenerated(arg) && !arg.includes('://') ? hide(arg) : redactPart(arg);
  });
}

/** A text reduced to its placeholders and the scheme before them. */
function hide(value: unknown): string {
  const pieces = typeof value === 'string' ? splitPlaceholders(value) : new MalformedPlaceholder('');
  if (pieces instanceof MalformedPlaceholder || pieces.every((piece) => typeof piece === 'string'))
    return REDACTED;
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return HARMLESS.test(piece) ? piece : REDACTED;
      const { name, fallback } = piece;
      return fallback === undefined || fallback === '' ? `\${${name}}` : `\${${name}:-${hide(fallback)}}`;
    })
    .join('');
}

const HARMLESS = /^(?:\W{0,3}|(?:Bearer|Basic|Token|ApiKey)\s+)$/i;
