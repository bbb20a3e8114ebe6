/** Sets a value in JSON text and leaves every other byte alone, neighbours and comments included. */
import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser';

export type JsonPath = readonly (string | number)[];

/** Undefined removes. Parents that are missing are made. Throws when a parent is neither a map nor a list. */
export function setInJson(text: string, path: JsonPath, value: unknown): string {
  if (value === undefined) return applyEdits(text, modify(text, [...path], undefined, {}));
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (tree === undefined) throw new Error('there is no document');
  const found = findNodeAtLocation(tree, [...path]);
  if (found !== undefined) {
    const indent = lineIndent(text, found.offset);
    return spliced(text, found.offset, { remove: found.length, insert: pretty(value, indent, text) });
  }
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(tree, path.slice(0, depth)) === undefined) depth -= 1;
  const parent = depth === 0 ? tree : findNodeAtLocation(tree, path.slice(0, depth));
  if (parent?.type !== 'object' && parent?.type !== 'array') throw new Error('there is no place for it');
  const nested = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return inserted(text, parent, { key: path[depth], value: nested });
}

function inserted(
  text: string,
  parent: Node,
  { key, value }: { key: string | number | undefined; value: unknown },
): string {
  const label = parent.type === 'array' ? '' : `${JSON.stringify(String(key))}: `;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const last = parent.children?.at(-1);
  if (last === undefined) {
    const outer = lineIndent(text, parent.offset);
    const indent = outer + indentUnit(text);
    const insert = `${eol}${indent}${label}${pretty(value, indent, text)}`;
    const rest = text.slice(parent.offset + 1);
    const closing = /^[ \t]*\r?\n/.test(rest) ? '' : `${eol}${outer}`;
    return spliced(text, parent.offset + 1, { remove: 0, insert: insert + closing });
  }
  const end = last.offset + last.length;
  // A parent written in one line stays in one line.
  if (!text.slice(parent.offset, end).includes('\n'))
    return spliced(text, end, { remove: 0, insert: `, ${label}${JSON.stringify(value)}` });
  const indent = lineIndent(text, last.offset);
  const line = `${eol}${indent}${label}${pretty(value, indent, text)}`;
  const [tail, comma] = /^(,?)[ \t]*(?:\/\/[^\r\n]*|\/\*[^*\r\n]*\*\/)?[ \t]*(?=\r?\n)/.exec(
    text.slice(end),
  ) ?? ['', ''];
  // A comment at the line's end belongs to the value before it.
  if (comma === ',') return spliced(text, end + tail.length, { remove: 0, insert: `${line},` });
  return spliced(text, end, { remove: tail.length, insert: `,${tail}${line}` });
}

function spliced(text: string, at: number, { remove, insert }: { remove: number; insert: string }): string {
  return text.slice(0, at) + insert + text.slice(at + remove);
}

function pretty(value: unknown, indent: string, text: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return (JSON.stringify(value, null, indentUnit(text)) ?? 'null').split('\n').join(eol + indent);
}

const indentUnit = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1]?.slice(0, 8) ?? '  ';

function lineIndent(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))?.[0] ?? '';
}
