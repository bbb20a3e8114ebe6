/**
 * Makes untrusted text safe to display. Characters that a terminal would interpret or a reader would miss are
 * escaped; hidden content can be named and, if the encoding is known, decoded. For display only: data is never
 * changed.
 */

/** Joins the parts of one emoji; anywhere else the same characters hide something. */
const EMOJI_JOINERS =
  '(?<=\\p{Extended_Pictographic}|\\p{Emoji_Modifier})\\ufe0f|(?<=[0-9#*])\\ufe0f(?=\\u20e3)' +
  '|(?<=\\p{Extended_Pictographic}[\\ufe0f\\p{Emoji_Modifier}]?)\\u200d(?=\\p{Extended_Pictographic})';
/** More marks on one letter than any script needs; they would paint over the lines around it. */
const MAX_COMBINING_MARKS = 8;
const INVISIBLE = '\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\u2028\\u2029';
const HIDDEN = `(?![\\n\\t])\\p{Cc}|[${INVISIBLE}]|(?<=\\p{M}{${MAX_COMBINING_MARKS}})\\p{M}`;

const PLAIN = /^[\n\t\x20-\x7e]*$/;
const ESCAPED_FOR_DISPLAY = new RegExp(`(${EMOJI_JOINERS})|${HIDDEN}`, 'gu');
const ESCAPED = new RegExp(HIDDEN, 'gu');

/** Line breaks and tabs stay; control and invisible characters become `\u{…}`. Idempotent. */
export function showText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replaceAll('\r\n', '\n')
    .replace(ESCAPED_FOR_DISPLAY, (character, glue: string | undefined) =>
      glue === undefined ? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}` : '',
    );
}

/** The same JSON with those characters as JSON escapes: nothing is lost, and nothing is interpreted. */
export function escapeHidden(json: string): string {
  if (PLAIN.test(json)) return json;
  return json.replace(ESCAPED, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Only the beginning of a long text fits into a line. */
const MAX_LINE_INPUT_LENGTH = 20_000;

/** One line with at most this many characters. */
export function showLine(text: string, width = 100): string {
  const start = text.slice(0, Math.max(MAX_LINE_INPUT_LENGTH, width * 4));
  const line = showText(start).replace(/\s+/g, ' ').trim();
  if (line.length <= width) return start.length < text.length ? `${line}…` : line;
  const cut = line.slice(0, width - 1);
  // Do not cut a surrogate pair in half.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** The ways in which a text hides something. */
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
  /** The text that tag characters and variation selectors encode, if any. */
  readonly decoded?: string;
}

/** Some scripts need joiners: between their letters these hide nothing. */
const JOINED =
  '[\\p{Script=Arabic}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gujarati}\\p{Script=Gurmukhi}' +
  '\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Oriya}\\p{Script=Sinhala}\\p{Script=Tamil}\\p{Script=Telugu}\\p{M}]';
const HARMLESS = new RegExp(`${EMOJI_JOINERS}|(?<=${JOINED})[\\u200c\\u200d](?=${JOINED})`, 'gu');

const KINDS: ReadonlyArray<readonly [HiddenKind, RegExp]> = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched for
  ['ansi', /\u001b[@-_]|[\u0090\u0098\u009b\u009d-\u009f]/],
  ['carriage-return', /\r(?!\n)/],
  ['control', /(?![\n\t\r])\p{Cc}/u],
  ['bidi', /\p{Bidi_Control}/u],
  ['tags', /[\u{e0000}-\u{e007f}]/u],
  ['variation-selectors', /\p{Variation_Selector}/u],
  ['zero-width', /[\u200b-\u200d\u2060-\u2064\ufeff\u180e]/],
  ['combining', new RegExp(`\\p{M}{${MAX_COMBINING_MARKS + 1}}`, 'u')],
];
const NAMED =
  /[\p{Cc}\p{Bidi_Control}\p{Variation_Selector}\u{e0000}-\u{e007f}\u200b-\u200d\u2060-\u2064\ufeff\u180e]/gu;
const INVISIBLE_CHARACTER = new RegExp(`[${INVISIBLE}]`, 'u');
/** Enough blank space to push what follows out of sight. */
const PADDING = /(?<![ \t\u00a0\u2000-\u200a\u3000])[ \t\u00a0\u2000-\u200a\u3000]{100}|\n(?:[ \t]*\n){24}/;

/** What a text hides from its reader. Line breaks, tabs and emoji are not hidden. */
export function findHidden(text: string): HiddenText {
  const kinds: HiddenKind[] = PADDING.test(text) ? ['padding'] : [];
  if (PLAIN.test(text)) return { kinds };
  const seen = text.replace(HARMLESS, '').replaceAll('\r\n', '\n');
  for (const [kind, pattern] of KINDS) if (pattern.test(seen)) kinds.push(kind);
  if (INVISIBLE_CHARACTER.test(seen.replace(NAMED, ''))) kinds.push('invisible');
  const decoded = kinds.includes('tags') || kinds.includes('variation-selectors') ? decode(seen) : '';
  return decoded === '' ? { kinds } : { kinds, decoded };
}

const MAX_DECODED_LENGTH = 1_000;

/** Tag characters are ASCII moved out of sight; variation selectors can encode bytes. Returns each text once. */
function decode(text: string): string {
  const found = new Set<string>();
  for (const [run] of text.matchAll(/[\u{e0020}-\u{e007e}]+|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}/gu)) {
    const spelt = [...run].map(escapeCharacter).join('');
    if (spelt.length > 1) found.add(spelt);
    if (found.size > MAX_DECODED_LENGTH) break;
  }
  return [...found].join(' ').slice(0, MAX_DECODED_LENGTH);
}

function escapeCharacter(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const byte = point >= 0xe0100 ? point - 0xe0100 + 16 : point & 0xff;
  return byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '';
}
