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
  const longest = Math.max(0, ...all.map(({ length }) => length));

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
    if (part.length < longest && all.some((secret) => isPiece(part, secret) && secret.includes(part)))
      return REDACTED;
    const from = cutUntil(part);
    const to = cutAt(part);
    if (to <= from) return REDACTED;
    return `${from === 0 ? '' : REDACTED}${part.slice(from, to)}${to === part.length ? '' : REDACTED}`;
  };
  return (text) => (text.includes(CUT) ? text.split(CUT).map(cut).join(CUT) : cut(text));
}

const isPiece = (piece: string, secret: string): boolean =>
  piece.length < secret.length && (piece.length >= LETTERS || /[^A-Za-z]/.test(piece));

function groupBy(secrets: readonly string[], key: (secret: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const secret of secrets) groups.set(key(secret), [...(groups.get(key(secret)) ?? []), secret]);
  return groups;
}
