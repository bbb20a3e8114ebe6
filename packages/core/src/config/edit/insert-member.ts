/** Inserts a value into an object or list without touching the text around it. */
import type { Node } from 'jsonc-parser';
import { attachedStart, gapTokens, isComment, trailingEnd } from './gap.js';
import { endOf, valueOfMember } from './jsonc-document.js';
import {
  indentAt,
  type Layout,
  LINE_WIDTH,
  layoutOf,
  spacingOf,
  startsLine,
  staysOnOneLine,
} from './layout.js';
import { renderLine, renderLines } from './render-json.js';

export interface Member {
  /** Absent for a list. */
  readonly key?: string;
  readonly value: unknown;
  /** Its position in the container. Absent: the end. */
  readonly index?: number;
}

/** An object or list of a text, into which a member is inserted. */
interface Target {
  readonly text: string;
  readonly container: Node;
}

/** The text with the member at its position; at the end by default. */
export function insertMember(text: string, container: Node, member: Member): string {
  const { index = Number.POSITIVE_INFINITY } = member;
  const members = container.children ?? [];
  const previous = members[Math.min(index, members.length) - 1];
  const [first] = members;
  if (first === undefined) return insertIntoEmpty(text, container, member);
  if (previous === undefined) return insertBefore({ text, container }, member, first);
  return insertAfter({ text, container }, member, previous);
}

/** The text with another value in place of this one. */
export function replaceValue(text: string, node: Node, value: unknown): string {
  const rendered = staysOnOneLine(text, node)
    ? renderLine(value, spacingOf(text, node))
    : renderLines(value, indentAt(text, node.offset), layoutOf(text, node));
  return text.slice(0, node.offset) + rendered + text.slice(endOf(node));
}

function insertIntoEmpty(text: string, container: Node, member: Member): string {
  const start = container.offset + 1;
  const end = endOf(container) - 1;
  // A comment keeps every byte, including trailing spaces, so only the text after the last one is removed.
  const kept = text.slice(start, gapTokens(text, start, end).findLast(isComment)?.end ?? start);
  if (staysOnOneLine(text, container)) {
    const { pad } = spacingOf(text, container);
    const lead = kept === '' ? pad : ' ';
    return `${text.slice(0, start)}${kept}${lead}${onOneLine(text, container, member)}${pad}${text.slice(end)}`;
  }
  const layout = layoutOf(text, container);
  const outer = indentAt(text, container.offset);
  const inner = outer + layout.unit;
  const piece = overLines(member, inner, layout);
  // An empty line separates it from unrelated comments above.
  const apart = /[\r\n]/.test(kept) ? layout.eol : '';
  return `${text.slice(0, start)}${kept}${apart}${layout.eol}${inner}${piece}${layout.eol}${outer}${text.slice(end)}`;
}

function insertBefore({ text, container }: Target, member: Member, next: Node): string {
  const { piece, separator } = renderNextTo({ text, container }, member, next);
  // Not between the next member and its comments.
  const start = attachedStart(gapTokens(text, container.offset + 1, next.offset), next.offset, false);
  return `${text.slice(0, start)}${piece},${separator}${text.slice(start)}`;
}

function insertAfter({ text, container }: Target, member: Member, previous: Node): string {
  const members = container.children ?? [];
  const next = members[members.indexOf(previous) + 1];
  const end = endOf(previous);
  const gap = gapTokens(text, end, next?.offset ?? endOf(container) - 1);
  const comma = gap.find(({ kind }) => kind === 'comma');
  const place = trailingEnd(gap, comma?.end ?? end, next !== undefined);
  const { piece, separator } = renderNextTo({ text, container }, member, previous);
  const own = text.slice(end, place);
  // On one line, a comment after the comma would seem to belong to the new member.
  const joined = staysOnOneLine(text, container) ? `${own},` : `,${own}`;
  return [
    text.slice(0, end),
    comma === undefined ? joined : own,
    separator,
    piece,
    comma === undefined ? '' : ',',
    text.slice(place),
  ].join('');
}

/** The member as text in the layout of its neighbor, and the separator. */
function renderNextTo({ text, container }: Target, member: Member, neighbour: Node) {
  if (staysOnOneLine(text, container))
    return {
      piece: onOneLine(text, container, member),
      separator: spacingOf(text, container).comma.slice(1),
    };
  const layout = layoutOf(text, container);
  const indent = startsLine(text, neighbour.offset)
    ? indentAt(text, neighbour.offset)
    : indentAt(text, container.offset) + layout.unit;
  const value = valueOfMember(neighbour);
  if (value?.type === 'object' && value.children?.length && staysOnOneLine(text, value)) {
    const piece = onOneLine(text, value, member);
    if (indent.length + piece.length <= LINE_WIDTH) return { piece, separator: layout.eol + indent };
  }
  return { piece: overLines(member, indent, layout), separator: layout.eol + indent };
}

function onOneLine(text: string, model: Node, { key, value }: Member): string {
  const spacing = spacingOf(text, model);
  return (key === undefined ? '' : JSON.stringify(key) + spacing.colon) + renderLine(value, spacing);
}

function overLines({ key, value }: Member, indent: string, layout: Layout): string {
  return (key === undefined ? '' : `${JSON.stringify(key)}: `) + renderLines(value, indent, layout);
}
