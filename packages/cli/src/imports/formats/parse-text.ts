/** From a file's text to plain values, for each format that the clients use. Never throws. */
import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { parseDocument } from 'yaml';
import { describeJsonError } from '../../terminal/json-error.js';
import { json5ToJson } from './json5-to-json.js';

export type FileFormat = 'json' | 'toml' | 'yaml' | 'frontmatter';

const FORMAT_NAMES: Readonly<Record<FileFormat, string>> = {
  json: 'JSON',
  toml: 'TOML',
  yaml: 'YAML',
  frontmatter: 'frontmatter',
};

export const MAX_FILE_BYTES = 5 * 1024 * 1024;

/** The YAML library needs some hundred bytes of memory for each of the text. */
const MAX_YAML_BYTES = 1024 * 1024;
/** It also needs a time that grows with the square of what is in a list, and of what is wrong. */
const MAX_YAML_INDICATORS = 15_000;
const MAX_NESTING_DEPTH = 1_000;

export type ParsedDocument = { readonly value: unknown } | { readonly problem: string };

/**
 * `value` is undefined for an empty text. Comments and trailing commas are fine in JSON, and bare keys and
 * single quotes too when it is only read.
 */
export function parseText(text: string, format: FileFormat, forReading = false): ParsedDocument {
  if (text.length > MAX_FILE_BYTES) return { problem: 'the file is larger than 5 MB' };
  if (text.includes('\0')) return { problem: 'the file is not text' };
  const body = withoutByteOrderMark(text);
  if (body.trim() === '') return { value: undefined };
  if (isTooDeep(body)) return { problem: 'the file is nested too deeply' };
  try {
    if (format === 'toml') return { value: parseToml(body, { integersAsBigInt: 'asNeeded' }) };
    if (format === 'yaml') return parseYaml(body);
    if (format === 'frontmatter') return parseYaml(frontmatterOf(body));
    return parseJson(body, forReading);
  } catch (error) {
    // Deep nesting overflows the stack of the recursive parsers; syntax errors of TOML come this way too.
    return { problem: `the file cannot be read as ${FORMAT_NAMES[format]} (${firstLine(error)})` };
  }
}

export const withoutByteOrderMark = (text: string): string =>
  text.startsWith('\uFEFF') ? text.slice(1) : text;

function parseJson(text: string, forReading: boolean): ParsedDocument {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  const looser = first === undefined || !forReading ? undefined : json5ToJson(text);
  const again = looser === undefined ? undefined : parseJson(looser, false);
  if (again !== undefined && 'value' in again) return again;
  if (first !== undefined) {
    return { problem: `the file cannot be read as JSON (${describeJsonError(first, text)})` };
  }
  return { value: tree === undefined ? undefined : toValue(tree) };
}

/** The library's own conversion assigns keys, which would make `__proto__` a prototype. */
function toValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(toValue);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(
    (node.children ?? []).map((property) => {
      const [key, value] = property.children ?? [];
      return [String(key?.value), value === undefined ? undefined : toValue(value)];
    }),
  );
}

function parseYaml(text: string): ParsedDocument {
  if (text.length > MAX_YAML_BYTES) return { problem: 'the file is larger than 1 MB, the maximum for YAML' };
  if (countYamlIndicators(text) > MAX_YAML_INDICATORS)
    return {
      problem: `the file has more entries than the YAML parser accepts (${MAX_YAML_INDICATORS} line breaks, quotes, commas and brackets in total)`,
    };
  const document = parseDocument(text, { merge: true, logLevel: 'silent' });
  const [first] = document.errors;
  if (first !== undefined) return { problem: `the file cannot be read as YAML (${firstLine(first)})` };
  return { value: document.toJS({ maxAliasCount: 100 }) ?? undefined };
}

function countYamlIndicators(text: string): number {
  let count = 0;
  for (const _sign of text.matchAll(/[,[\]{}"'\n]/g)) count += 1;
  return count;
}

/** Before any parser sees it: some of them take the whole memory for such a text. */
function isTooDeep(text: string): boolean {
  if (/(?:[-?:] ){200}/.test(text)) return true;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x5b || code === 0x7b) depth += 1;
    else if ((code === 0x5d || code === 0x7d) && depth > 0) depth -= 1;
    if (depth > MAX_NESTING_DEPTH) return true;
  }
  return false;
}

function frontmatterOf(text: string): string {
  return /^---\r?\n([\s\S]*?)\r?\n---(\r?\n|$)/.exec(text)?.[1] ?? '';
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split('\n')[0] ?? message).slice(0, 200);
}
