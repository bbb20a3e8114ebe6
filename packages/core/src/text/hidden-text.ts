/**
 * Text that a stranger wrote, made safe to show. What a terminal would obey or an eye would miss is spelt
 * out; what it hides can be named and, where that is known, decoded. Nothing here changes data: it is for
 * the moment of showing.
 */

/** What joins the parts of one emoji; anywhere else the same characters hide something. */
const GLUE =
  '(?<=\\p{Extended_Pictographic}|\\p{Emoji_Modifier})\\ufe0f|(?<=[0-9#*])\\ufe0f(?=\\u20e3)' +
  '|(?<=\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?)\\u200d(?=\\p{Extended_Pictographic})';
/** More marks on one letter than any script needs paint over the lines around it. */
const MOST_MARKS = 8;
const INVISIBLE = '\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u2028\\u2029';
const HIDDEN = `(?![\\n\\t])\\p{Cc}|[${INVISIBLE}]|(?<=\\p{M}{${MOST_MARKS}})\\p{M}`;

const PLAIN = /^[\n\t\x20-\x7e]*$/;
const SHOWN = new RegExp(`(${GLUE})|${HIDDEN}`, 'gu');
const ESCAPED = new RegExp(HIDDEN, 'gu');

/** Line breaks and tabs stay; control and invisible characters become `\u{…}`. Doing it twice changes nothing. */
export function showText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replaceAll('\r\n', '\n')
    .replace(SHOWN, (character, glue: string | undefined) =>
      glue === undefined ? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}` : '',
    );
}

/** The same JSON with those characters in its own escapes: nothing is lost, and nothing is obeyed. */
export function escapeHidden(json: string): string {
  if (PLAIN.test(json)) return json;
  return json.replace(ESCAPED, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Only the beginning of a long text can end up in a line. */
const MOST_READ = 20_000;

/** One line of at most so many characters. */
export function showLine(text: string, width = 100): string {
  const start = text.slice(0, Math.max(MOST_READ, width * 4));
  const line = showText(start).replace(/\s+/g, ' ').trim();
  if (line.length <= width) return start.length < text.length ? `${line}…` : line;
  const cut = line.slice(0, width - 1);
  // Half of a character is none.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** In what ways a text hides something. */
export type HiddenKind =
  | 'ansi'
  | 'control'
  | 'carriage-return'
  | 'bidi'
  | 'tags'
  | 'variation-selectors'
  | 'zero-width'
  | 'invisible'
  | 'combining'
  | 'padding';

export interface HiddenText {
  readonly kinds: readonly HiddenKind[];
  /** What tag characters and variation selectors spell, if they spell something. */
  readonly decoded?: string;
}

/** Some scripts cannot be written without joiners: between their letters these hide nothing. */
const JOINED =
  '[\\p{Script=Arabic}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gujarati}\\p{Script=Gurmukhi}' +
  '\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Oriya}\\p{Script=Sinhala}\\p{Script=Tamil}\\p{Script=Telugu}\\p{M}]';
const HARMLESS = new RegExp(`${GLUE}|(?<=${JOINED})[\\u200c\\u200d](?=${JOINED})`, 'gu');

const KINDS: ReadonlyArray<readonly [HiddenKind, RegExp]> = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  ['ansi', /\u001b[@-_]|[\u0090\u0098\u009b\u009d-\u009f]/],
  ['carriage-return', /\r(?!\n)/],
  ['control', /(?![\n\t\r])\p{Cc}/u],
  ['bidi', /\p{Bidi_Control}/u],
  ['tags', /[\u{e0000}-\u{e007f}]/u],
  ['variation-selectors', /\p{Variation_Selector}/u],
  ['zero-width', /[\u200b-\u200d\u2060-\u2064\ufeff\u180e]/],
  ['combining', new RegExp(`\\p{M}{${MOST_MARKS + 1}}`, 'u')],
];
const NAMED =
  /[\p{Cc}\p{Bidi_Control}\p{Variation_Selector}\u{e0000}-\u{e007f}\u200b-\u200d\u2060-\u2064\ufeff\u180e]/gu;
const UNSEEN = new RegExp(`[${INVISIBLE}]`, 'u');
/** So much nothing that what follows is out of sight. */
const PADDING = /(?<![ \t\u00a0\u2000-\u200a\u3000])[ \t\u00a0\u2000-\u200a\u3000]{100}|\n(?:[ \t]*\n){24}/;

/** What a text hides from whoever reads it. Line breaks, tabs and emoji are not hidden. */
export function findHidden(text: string): HiddenText {
  const kinds: HiddenKind[] = PADDING.test(text) ? ['padding'] : [];
  if (PLAIN.test(text)) return { kinds };
  const seen = text.replace(HARMLESS, '').replaceAll('\r\n', '\n');
  for (const [kind, pattern] of KINDS) if (pattern.test(seen)) kinds.push(kind);
  if (UNSEEN.test(seen.replace(NAMED, ''))) kinds.push('invisible');
  const decoded = kinds.includes('tags') || kinds.includes('variation-selectors') ? decode(seen) : '';
  return decoded === '' ? { kinds } : { kinds, decoded };
}

const MOST_DECODED = 1_000;

/** Tag characters are ASCII moved out of sight; variation selectors are used to count bytes. Each text once. */
function decode(text: string): string {
  const found = new Set<string>();
  for (const [run] of text.matchAll(/[\u{e0020}-\u{e007e}]+|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}/gu)) {
    const spelt = [...run].map(spell).join('');
    if (spelt.length > 1) found.add(spelt);
    if (found.size > MOST_DECODED) break;
  }
  return [...found].join(' ').slice(0, MOST_DECODED);
}

function spell(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const byte = point >= 0xe0100 ? point - 0xe0100 + 16 : point & 0xff;
  return byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '';
}
