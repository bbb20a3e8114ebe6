/** What is left of a secret where a text was cut off: at its beginning, at its end, and at each ellipsis. */
import { REDACTED } from '../text/redact-shapes.js';
import { writingsOf } from './redact-forms.js';

const CUT = '…';
/** Fewer characters do not give a secret away, and many texts have them. */
const FEWEST = 6;
/** So many letters of a secret are no word any more. */
const LETTERS = 12;

/** Takes such remains of these secrets out of a text; the secrets as a whole are somebody else's matter. */
export function createEndCutter(secrets: Iterable<string>): (text: string) => string {
  const all = [...secrets].flatMap(writingsOf);
  const starts = groupBy(all, (secret) => secret.slice(0, FEWEST));
  const ends = groupBy(all, (secret) => secret.slice(-FEWEST));
  const longest = all.reduce((most, { length }) => Math.max(most, length), 0);
  const mayHold = createPieceFilter(all);

  /** Where a beginning of a secret starts that goes on to the end of the text. */
  const cutAt = (part: string): number => {
    for (let at = Math.max(0, part.length - longest + 1); at + FEWEST <= part.length; at += 1)
      for (const secret of starts.get(part.slice(at, at + FEWEST)) ?? [])
        if (isPiece(part.slice(at), secret) && secret.startsWith(part.slice(at))) return at;
    return part.length;
  };

  /** Where an end of a secret ends that the text begins with. */
  const cutUntil = (part: string): number => {
    for (let at = Math.min(part.length, longest - 1); at >= FEWEST; at -= 1)
      for (const secret of ends.get(part.slice(at - FEWEST, at)) ?? [])
        if (isPiece(part.slice(0, at), secret) && secret.endsWith(part.slice(0, at))) return at;
    return 0;
  };

  const cut = (part: string): string => {
    if (part.length < FEWEST) return part;
    if (part.length < longest && mayHold(part) && all.some((secret) => holds(secret, part))) return REDACTED;
    const from = cutUntil(part);
    const to = cutAt(part);
    if (to <= from) return REDACTED;
    return `${from === 0 ? '' : REDACTED}${part.slice(from, to)}${to === part.length ? '' : REDACTED}`;
  };
  return (text) => (text.includes(CUT) ? text.split(CUT).map(cut).join(CUT) : cut(text));
}

/** As many as give next to no wrong yes, and not more than a few megabytes. */
const MIN_BITS = 12;
const MAX_BITS = 22;

/** Says no of nearly everything that is in none of them, whatever their number: a text may have thousands of parts. */
function createPieceFilter(secrets: readonly string[]): (part: string) => boolean {
  const count = secrets.reduce((sum, { length }) => sum + length, 0);
  const bits = Math.min(Math.max(Math.ceil(Math.log2(count * 64 + 1)), MIN_BITS), MAX_BITS);
  const seen = new Uint8Array(2 ** bits);
  const placeOf = (text: string, at: number): number => {
    let hash = 0x811c9dc5;
    for (let index = at; index < at + FEWEST; index += 1)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> (32 - bits);
  };
  for (const secret of secrets)
    for (let at = 0; at + FEWEST <= secret.length; at += 1) seen[placeOf(secret, at)] = 1;
  return (part) => {
    for (let at = 0; at + FEWEST <= part.length; at += 1) if (seen[placeOf(part, at)] !== 1) return false;
    return true;
  };
}

const holds = (secret: string, part: string): boolean => isPiece(part, secret) && secret.includes(part);

const isPiece = (piece: string, secret: string): boolean =>
  piece.length < secret.length && (piece.length >= LETTERS || /[^A-Za-z]/.test(piece));

function groupBy(secrets: readonly string[], key: (secret: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const secret of secrets) groups.set(key(secret), [...(groups.get(key(secret)) ?? []), secret]);
  return groups;
}
