/** Explains flags: reasons to review the text of a server before trusting it. */
import { FLAGS } from 'turnbuckle/host';
import { findHidden } from 'turnbuckle/text';
import { showLine } from '../terminal/untrusted-text.js';

export interface Flagged {
  readonly flags: readonly string[];
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** `has …; speaks …`; empty when nothing is flagged. `others`: names that are not its own, of servers and their tools. */
export function describeFlags({ flags, definition = {} }: Flagged, others: readonly string[] = []): string {
  const reasons = flags.map((flag) => {
    const reason = Object.entries(FLAGS).find(([code]) => code === flag)?.[1] ?? flag;
    const proof = evidenceOf(flag, JSON.stringify(definition), others);
    return proof === undefined ? reason : `${reason} (${proof})`;
  });
  return reasons.join('; ');
}

function evidenceOf(flag: string, text: string, others: readonly string[]): string | undefined {
  if (flag === 'hidden-characters') {
    const { decoded } = findHidden(text);
    return decoded && `they spell "${showLine(decoded, 60)}"`;
  }
  if (flag !== 'mentions-other-server') return undefined;
  const found = others.map((name) => ({ name, at: indexOfWord(name, text) })).find(({ at }) => at >= 0);
  return found && `text: "${excerpt(text, found.at, found.name.length)}"`;
}

const EXCERPT_CONTEXT = 40;

/** Index of a name as a whole word; -1 if it does not occur. */
function indexOfWord(name: string, text: string): number {
  const escaped = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return text.search(new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, 'i'));
}

/** The surrounding text, within the same JSON string. */
function excerpt(text: string, at: number, length: number): string {
  const before = text.slice(Math.max(at - EXCERPT_CONTEXT, 0), at);
  const after = text.slice(at + length, at + length + EXCERPT_CONTEXT);
  const lead = before.includes('"') ? before.slice(before.lastIndexOf('"') + 1) : `…${before}`;
  const rest = after.includes('"') ? after.slice(0, after.indexOf('"')) : `${after}…`;
  return showLine(`${lead}${text.slice(at, at + length)}${rest}`, 200);
}
