/** A request as people type it: `remove files`, `search "read a calendar"`, `add purpose="read a calendar"`. */
import type { RequestKind } from '@turnbuckle/steward';
import { TurnbuckleError } from 'turnbuckle';
import { isRecord } from 'turnbuckle/light';
import { nearestWord } from '../command-line/nearest-word.js';
import { findJsonError } from '../terminal/json-error.js';

const KINDS: Readonly<Record<string, RequestKind>> = {
  add: 'add_server',
  remove: 'remove_server',
  test: 'test_server',
  search: 'search_servers',
  modify: 'modify_server',
};

/** The parameter that words without a key are for. */
const MAIN_KEYS: Readonly<Record<RequestKind, string>> = {
  add_server: 'purpose',
  remove_server: 'serverName',
  test_server: 'serverName',
  search_servers: 'purpose',
  modify_server: 'serverName',
};

/** Only these have members, so that `changes.env=…` is not a key with a dot. */
const NESTED = ['changes', 'values', 'package'];

export const kindWord = (kind: string): string =>
  Object.entries(KINDS).find(([, name]) => name === kind)?.[0] ?? kind;

export function parseRequestKind(word: string): RequestKind {
  const known = Object.hasOwn(KINDS, word) ? KINDS[word] : Object.values(KINDS).find((kind) => kind === word);
  if (known !== undefined) return known;
  const words = Object.keys(KINDS);
  const close = nearestWord(word, words);
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown kind of request "${word}".`, {
    hint: close === undefined ? `Use one of: ${words.join(', ')}` : `Did you mean "${close}"?`,
  });
}

/** The parameters; the steward checks them. */
export function parseParams(kind: RequestKind, words: readonly string[]): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  const plain = words.filter((word) => !PAIR.test(word));
  if (plain.length > 0) params[mainKey(kind, plain)] = plain.join(' ');
  for (const word of words) {
    const [, key = '', colon = '', text = ''] = PAIR.exec(word) ?? [];
    if (key !== '') assign(params, key, readValue(key, text, colon === ':' || key === 'limit'));
  }
  return params;
}

/** `key=text` or `key:=json`, as for tools. A purpose may contain an equals sign behind a space. */
const PAIR = /^([A-Za-z_][\w.-]*)(:?)=([\s\S]*)$/;

const mainKey = (kind: RequestKind, [first = '', ...more]: readonly string[]): string =>
  kind === 'add_server' && more.length === 0 && /^[\w.-]+\/[\w.-]+$/.test(first)
    ? 'registryName'
    : MAIN_KEYS[kind];

function assign(params: Record<string, unknown>, key: string, value: unknown): void {
  const [outer = '', ...inner] = key.split('.');
  if (inner.length === 0 || !NESTED.includes(outer)) {
    params[key] = value;
    return;
  }
  const before = Object.hasOwn(params, outer) && isRecord(params[outer]) ? params[outer] : {};
  params[outer] = { ...before, [inner.join('.')]: value };
}

/** Objects are always JSON; other texts only if that is asked for. */
function readValue(key: string, text: string, isJson: boolean): unknown {
  if (!isJson && !(NESTED.includes(key) && text.trimStart().startsWith('{'))) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    const where = findJsonError(text);
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `The value of "${key}" is not JSON${where === undefined ? '' : ` (at ${where})`}.`,
      { cause, hint: 'For example changes:=\'{ "enabled": false }\' or changes.enabled:=false' },
    );
  }
}
