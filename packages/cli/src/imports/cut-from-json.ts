/** Takes a value out of JSON text and leaves every other byte alone, comments included. */
import { createScanner, findNodeAtLocation, parseTree } from 'jsonc-parser';
import type { JsonPath } from './set-in-json.js';

/** The scanner's numbers for a comma, and for comments, ends of lines and blanks. */
const COMMA = 5;
const TRIVIA: readonly number[] = [12, 13, 14, 15];

/** The text without the key or item at this path. Throws when there is none. */
export function cutFromJson(text: string, path: JsonPath): string {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const value = tree && findNodeAtLocation(tree, [...path]);
  const node = value?.parent?.type === 'property' ? value.parent : value;
  if (node?.parent === undefined) throw new Error('there is nothing to take out');
  const siblings = node.parent.children ?? [];
  const before = siblings[siblings.indexOf(node) - 1];
  const comma = commaAfter(text, node.offset + node.length);
  const { start, end } = withItsLine(text, {
    start: node.offset,
    end: comma === undefined ? node.offset + node.length : comma + 1,
  });
  // The last one leaves the comma before it without a use.
  const spare = comma === undefined && before ? commaAfter(text, before.offset + before.length) : undefined;
  if (spare === undefined) return text.slice(0, start) + text.slice(end);
  const between = text.slice(spare + 1, start);
  return text.slice(0, spare) + (start === node.offset ? between.trimEnd() : between) + text.slice(end);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** With the whole line where nothing else is on it; else with the blanks behind it. */
function withItsLine(text: string, { start, end }: Range): Range {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const [blanks = '', eol] = /^[ \t]*(\r?\n)?/.exec(text.slice(end)) ?? [];
  if (eol !== undefined && text.slice(line, start).trim() === '')
    return { start: line, end: end + blanks.length };
  return { start, end: eol === undefined ? end + blanks.length : end };
}

function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  let token: number = scanner.scan();
  while (TRIVIA.includes(token)) token = scanner.scan();
  return token === COMMA ? scanner.getTokenOffset() : undefined;
}
