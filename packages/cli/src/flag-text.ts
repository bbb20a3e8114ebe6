/** Why somebody should look at what a server says before trusting it, in words. */
import { FLAGS } from 'turnbuckle';
import { findHidden } from 'turnbuckle/text';
import { showLine } from './untrusted-text.js';

export interface Flagged {
  readonly flags: readonly string[];
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** `has …; speaks …`; empty when nothing is flagged. */
export function flagText({ flags, definition }: Flagged): string {
  const reasons = flags.map((flag) => {
    const reason = Object.entries(FLAGS).find(([code]) => code === flag)?.[1] ?? flag;
    const decoded =
      flag === 'hidden-characters' ? findHidden(JSON.stringify(definition ?? {})).decoded : undefined;
    return decoded === undefined ? reason : `${reason} (they spell "${showLine(decoded, 60)}")`;
  });
  return reasons.join('; ');
}
