/**
 * Removes a member from an object or list, with the comments that belong to it: those on its lines, and those
 * directly above. Comments separated by an empty line stay, and so do those on the line on which the container
 * starts.
 */
import type { Node } from 'jsonc-parser';
import { attachedStart, type GapToken, gapTokens, isComma, trailingEnd } from './gap.js';
import { endOf } from './jsonc-document.js';
import { lineStart } from './layout.js';

interface Cut {
  readonly start: number;
  readonly end: number;
}

/** The text without that member; a container with only white space left is closed up. */
export function removeMember(text: string, container: Node, index: number): string {
  const members = container.children ?? [];
  const member = members[index];
  if (member === undefined) return text;
  const previous = members[index - 1];
  const next = members[index + 1];
  const before = gapTokens(text, previous ? endOf(previous) : container.offset + 1, member.offset);
  const after = gapTokens(text, endOf(member), next?.offset ?? endOf(container) - 1);
  const commaBefore = before.find(isComma);
  const commaAfter = after.find(isComma);
  const { end, cuts } = cutsAfter(text, after, { member, valueFollows: next !== undefined });
  const start = attachedStart(before, member.offset, previous !== undefined);
  cuts.push(withSpace(text, { start, end }, next === undefined));
  // Without a comma of its own it was the last member: the comma before it would now end the container.
  if (commaAfter === undefined && commaBefore !== undefined) cuts.push(commaBefore);
  const result = cutOut(text, cuts);
  return members.length > 1
    ? result
    : collapseEmpty(result, container.offset, endOf(container) - text.length);
}

interface Removed {
  readonly member: Node;
  readonly valueFollows: boolean;
}

function cutsAfter(text: string, after: readonly GapToken[], { member, valueFollows }: Removed) {
  const comma = after.find(isComma);
  const own = endOf(member);
  if (comma === undefined || !/[\r\n]/.test(text.slice(own, comma.start)))
    return { end: trailingEnd(after, comma?.end ?? own, valueFollows), cuts: [] as Cut[] };
  // A comma on a later line: the comments in between are not on the member's lines, so they stay.
  return { end: trailingEnd(after, own, false), cuts: [comma] as Cut[] };
}

/** Whole lines are removed with their line ending; within a line, one of the two surrounding spaces. */
function withSpace(text: string, { start, end }: Cut, isLast: boolean): Cut {
  const line = lineStart(text, start);
  const opensLine = line > 0 && /^[ \t]*$/.test(text.slice(line, start));
  const rest = /^[ \t]*(\r\n|\r|\n|$)?/.exec(text.slice(end));
  const closesLine = rest?.[1] !== undefined;
  if (opensLine && closesLine) return wholeLines(text, { start: line, end: end + (rest?.[0].length ?? 0) });
  if (closesLine || (isLast && !opensLine)) {
    const space = /[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0;
    return { start: start - space, end };
  }
  return { start, end: end + (rest?.[0].length ?? 0) };
}

/** Of two adjacent empty lines, or an empty line at the end of the container, one is removed too. */
function wholeLines(text: string, { start, end }: Cut): Cut {
  const empty = /(?<=\n|\r(?!\n))[ \t]*(\r\n|\r|\n)$/.exec(text.slice(0, start));
  if (empty === null || !/^[ \t]*[\r\n}\]]/.test(text.slice(end))) return { start, end };
  return { start: start - empty[0].length, end };
}

function collapseEmpty(text: string, start: number, endFromBack: number): string {
  const end = text.length + endFromBack;
  if (!/^[ \t\r\n]*$/.test(text.slice(start + 1, end - 1))) return text;
  return text.slice(0, start + 1) + text.slice(end - 1);
}

function cutOut(text: string, cuts: readonly Cut[]): string {
  return cuts
    .toSorted((left, right) => right.start - left.start)
    .reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
}
