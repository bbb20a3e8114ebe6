/** How much room a text takes on a terminal, and as much of a text as there is room for. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes take no room on the screen
const PARTS = /\u001b\[[0-9;]*m|[\s\S]/gu;
/** Marks that go onto the letter before them. */
const ZERO_WIDTH = /^[\p{M}\u200d]/u;
/** What is drawn two columns wide: the characters of East Asia and emoji. */
const DOUBLE_WIDTH =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** In columns; colours take none. */
export const displayWidth = (text: string): number =>
  partsOf(text).reduce((sum, part) => sum + columnsOf(part), 0);

/** Truncates to this many columns, ending in `…`; keeps colour sequences intact. */
export function truncateToWidth(text: string, width: number): string {
  if (width < 1) return '';
  if (displayWidth(text) <= width) return text;
  let room: number | undefined = width - 1;
  let result = '';
  for (const part of partsOf(text)) {
    if (isColour(part)) result += part;
    if (isColour(part) || room === undefined) continue;
    const fits: boolean = columnsOf(part) <= room;
    result += fits ? part : '…';
    room = fits ? room - columnsOf(part) : undefined;
  }
  return result;
}

const partsOf = (text: string): string[] => [...text.matchAll(PARTS)].map(([part]) => part);

const isColour = (part: string): boolean => part.startsWith('\u001b');

function columnsOf(part: string): number {
  if (isColour(part) || ZERO_WIDTH.test(part)) return 0;
  return DOUBLE_WIDTH.test(part) ? 2 : 1;
}
