/** Why somebody should look at what a server says before trusting it, in words. */
import { FLAGS } from 'turnbuckle';
import { findHidden } from 'turnbuckle/text';
import { showLine } from './untrusted-text.js';

export interface Flagged {
  readonly flags: readonly string[];
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** `has …; speaks …`; empty when nothing is flagged. `others`: names that are not its own, of servers and their tools. */
export function flagText({ flags, definition = {} }: Flagged, others: readonly string[] = []): string {
  const reasons = flags.map((flag) => {
    const reason = Object.entries(FLAGS).find(([code]) => code === flag)?.[1] ?? flag;
    const proof = proofOf(flag, JSON.stringify(definition), others);
    return proof === undefined ? reason : `${reason} (${proof})`;
  });
  return reasons.join('; ');
}

function proofOf(flag: string, text: string, others: readonly string[]): string | undefined {
  if (flag === 'hidden-characters') {
    const { decoded } = findHidden(text);
    return decoded && `they spell "${showLine(decoded, 60)}"`;
  }
  if (flag !== 'mentions-other-server') return undefined;
  const found = others.map((name) => ({ name, at: placeOf(name, text) })).find(({ at }) => at >= 0);
  return found && `it says "${excerpt(text, found.at, found.name.length)}"`;
}

const AROUND = 40;

/** Where a name stands as a word of its own; -1 where it does not. */
function placeOf(name: string, text: string): number {
  const escaped = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return text.search(new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, 'i'));
}

/** As much of the sentence around it as stands in the same text. */
function excerpt(text: string, at: number, length: number): string {
  const before = text.slice(Math.max(at - AROUND, 0), at);
  const after = text.slice(at + length, at + length + AROUND);
  const lead = before.includes('"') ? before.slice(before.lastIndexOf('"') + 1) : `…${before}`;
  const rest = after.includes('"') ? after.slice(0, after.indexOf('"')) : `${after}…`;
  return showLine(`${lead}${text.slice(at, at + length)}${rest}`, 200);
}
