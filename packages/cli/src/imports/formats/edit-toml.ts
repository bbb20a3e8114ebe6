/** Edits TOML table by table in its text; a file that keeps its servers otherwise is written anew. */
import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { editedValue, type FileEdit, indexOfNamed, mergedEntry, type ServerEdit } from './file-edit.js';
import { isEntry, ownValue, ownValueAt } from './plain-value.js';
import { type TomlSection, tomlSections } from './toml-sections.js';

export interface EditedToml {
  readonly text: string;
  /** False when the file had to be written anew, without its comments. */
  readonly areCommentsKept: boolean;
}

/** Settings outside the servers are not needed for any TOML client. */
export function editToml(text: string, edit: FileEdit): EditedToml {
  try {
    const patched = edit.servers.reduce((current, server) => patch(current, server, edit), text);
    if (isDeepStrictEqual(parseExact(patched), editedValue(parseExact(text), edit)))
      return { text: patched, areCommentsKept: true };
  } catch {
    // An inline table or dotted keys: the patch is no TOML any more.
  }
  // Big integers keep integers and floats apart on the way through.
  const exact = editedValue(parse(text, { integersAsBigInt: true }), withBigIntegers(edit));
  return { text: stringify(exact, { numbersAsFloat: true }), areCommentsKept: false };
}

const parseExact = (text: string): unknown => parse(text, { integersAsBigInt: 'asNeeded' });

function patch(text: string, server: ServerEdit, edit: FileEdit): string {
  const servers = ownValueAt(parseExact(text), edit.container);
  const index = indexOfNamed(servers, server.name);
  const existing = edit.list
    ? Array.isArray(servers)
      ? servers[index]
      : undefined
    : ownValue(servers, server.name);
  const rendered = render(mergedEntry(existing, server, edit), server.name, edit);
  const sections = existing === undefined ? [] : sectionsOf(text, server.name, { edit, index });
  if (sections.length === 0) return `${text.trimEnd()}${text.trim() === '' ? '' : '\n\n'}${rendered}`;
  const last = sections.length - 1;
  let result = text;
  for (const [position, section] of [...sections.entries()].reverse()) {
    const body = text.slice(section.start, section.end);
    const tail = body.slice(body.length - trailingLength(body));
    // Between two tables of the same server only comments are worth keeping.
    const kept = position === last || tail.includes('#') ? tail : '';
    const fresh = position === 0 ? rendered : '';
    result = result.slice(0, section.start) + fresh + kept + result.slice(section.end);
  }
  return result;
}

/** How many characters at a table's end are blank lines and comments: they belong to what follows. */
function trailingLength(section: string): number {
  let start = section.length;
  while (start > 0) {
    const line = section.lastIndexOf('\n', start - 2) + 1;
    // The first line is the table's header.
    if (line === 0 || !/^[ \t]*(#.*)?\r?\n?$/.test(section.slice(line, start))) break;
    start = line;
  }
  return section.length - start;
}

function render(entry: Readonly<Record<string, unknown>>, name: string, edit: FileEdit): string {
  const leaf: unknown = edit.list ? [entry] : { [name]: entry };
  const text = stringify(edit.container.reduceRight<unknown>((inner, key) => ({ [key]: inner }), leaf));
  // The library writes headers of outer tables too; a second one of the same name would be an error.
  const outer = edit.list ? edit.container.slice(1) : edit.container;
  return `${outer.reduce((rest) => rest.replace(/^\[[^\n]*\]\n(?=\[)/, ''), text).trim()}\n`;
}

function sectionsOf(
  text: string,
  name: string,
  { edit, index }: { edit: FileEdit; index: number },
): readonly TomlSection[] {
  const depth = edit.container.length;
  const inside = tomlSections(text).filter(({ path }) => edit.container.every((key, at) => path[at] === key));
  if (!edit.list) return inside.filter(({ path }) => path[depth] === name);
  const heads = inside.filter(({ path }) => path.length === depth);
  const from = heads[index]?.start ?? text.length;
  const to = heads[index + 1]?.start ?? text.length;
  return inside.filter(({ start }) => start >= from && start < to);
}

function withBigIntegers(edit: FileEdit): FileEdit {
  const turn = (value: unknown): unknown => {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    if (Array.isArray(value)) return value.map(turn);
    return isEntry(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, turn(item)]))
      : value;
  };
  return {
    ...edit,
    servers: edit.servers.map(({ entry, ...rest }) => ({
      ...rest,
      entry: Object.fromEntries(Object.entries(entry).map(([key, item]) => [key, turn(item)])),
    })),
  };
}
