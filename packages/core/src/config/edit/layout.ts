/** The layout of the file: line endings, indentation, and the spacing of one-line objects. */
import type { Node } from 'jsonc-parser';
import { endOf, valueOfMember } from './jsonc-document.js';

export interface Layout {
  readonly eol: string;
  /** One level of indentation. */
  readonly unit: string;
}

/** Spacing inside a one-line object or list. */
export interface Spacing {
  readonly colon: string;
  readonly comma: string;
  readonly pad: string;
}

export const LINE_WIDTH = 100;
const DEFAULT_UNIT = '  ';

export function layoutOf(text: string, node: Node): Layout {
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  return { eol: eolOf(text), unit: unitOf(text, root) ?? DEFAULT_UNIT };
}

export function eolOf(text: string): string {
  return /\r\n|\r|\n/.exec(text)?.[0] ?? '\n';
}

function unitOf(text: string, node: Node): string | undefined {
  const members = node.children ?? [];
  const [first] = members;
  if (first !== undefined && node.type !== 'property' && startsLine(text, first.offset)) {
    const outer = indentAt(text, node.offset);
    const inner = indentAt(text, first.offset);
    if (inner.startsWith(outer) && inner !== outer) return inner.slice(outer.length);
  }
  for (const member of members) {
    const unit = unitOf(text, member);
    if (unit !== undefined) return unit;
  }
  return undefined;
}

/** The indentation of the line of this offset. */
export function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? '';
}

export function lineStart(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

/** True if only white space precedes the offset on its line. */
export function startsLine(text: string, offset: number): boolean {
  return /^[ \t]*$/.test(text.slice(lineStart(text, offset), offset)) && lineStart(text, offset) > 0;
}

/** True for a one-line object or list that should stay on one line. */
export function staysOnOneLine(text: string, node: Node): boolean {
  if (/[\r\n]/.test(text.slice(node.offset, endOf(node)))) return false;
  if ((node.children?.length ?? 0) > 0) return true;
  const outer = outerContainer(node);
  return outer !== undefined && staysOnOneLine(text, outer);
}

/** The spacing of the nearest one-line object. */
export function spacingOf(text: string, node: Node): Spacing {
  const member = node.type === 'object' ? node.children?.[0] : undefined;
  const value = valueOfMember(member);
  if (member === undefined || value === undefined) {
    const outer = outerContainer(node);
    return outer === undefined || !staysOnOneLine(text, outer)
      ? { colon: ': ', comma: ', ', pad: ' ' }
      : spacingOf(text, outer);
  }
  const tight = text[value.offset - 1] === ':';
  return {
    colon: tight ? ':' : ': ',
    comma: tight ? ',' : ', ',
    pad: /[ \t]/.test(text[node.offset + 1] ?? '') ? ' ' : '',
  };
}

function outerContainer(node: Node): Node | undefined {
  return node.parent?.type === 'property' ? node.parent.parent : node.parent;
}
