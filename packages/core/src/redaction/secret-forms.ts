/** How a known secret can be written: as it is, escaped for JSON or an address, or inside something in base64. */

/** A backslash in front for each time that JSON was put into JSON: this many are followed. */
const ESCAPES = '{1,7}';
const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\b': 'b',
  '\f': 'f',
};
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#0?39;',
};
/** The other spelling of base64 has other letters for two of them. */
const BASE64_TWINS: Readonly<Record<string, string>> = { '+': '-', '/': '_' };

/** So much of a long token is enough to know it by; the rest of it is whatever a token is made of. */
const KNOWN_BY = 64;
const TOKEN = /^[\w.~+/=-]+$/;

export const ANCHOR_LENGTH = 4;
const ANCHORS = new RegExp(`(?=([A-Za-z\\d]{${ANCHOR_LENGTH}}))`, 'g');

/** A way to write a secret: its anchor stands for itself, the rest are sources of regular expressions without groups. */
export interface Form {
  readonly before: string;
  /** Letters and digits; empty when it has no such row, and then all is in `after`. */
  readonly anchor: string;
  readonly after: string;
  /** Only its beginning is looked for: it goes on as long as a token does. */
  readonly isCut: boolean;
}

/** How many have an anchor already: many secrets begin alike, and all that share one are tried where it stands. */
type CountOf = (anchor: string) => number;

export function formsOf(secret: string, countOf: CountOf): Form[] {
  return [
    toForm(secret, {}, countOf),
    ...base64CoresOf(secret).map((core) => toForm(core, BASE64_TWINS, countOf)),
  ];
}

/** The usual ways to write it, letter by letter: for texts that end in the middle of one. */
export function writingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const cores = base64CoresOf(secret);
  return [
    ...new Set([
      secret,
      json,
      JSON.stringify(json).slice(1, -1),
      wellEncoded(secret),
      ...cores,
      ...cores.map((core) => core.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ];
}

function toForm(text: string, twins: Readonly<Record<string, string>>, countOf: CountOf): Form {
  const long = text.length > KNOWN_BY * 2 && TOKEN.test(text);
  const start = long ? text.slice(0, KNOWN_BY) : text;
  const [at, anchor] = rarestAnchor(start, countOf);
  return {
    before: toPattern(start.slice(0, at), twins),
    anchor,
    after: toPattern(start.slice(at + anchor.length), twins),
    isCut: long,
  };
}

/** The first that nobody has, or else that the fewest have. */
function rarestAnchor(text: string, countOf: CountOf): readonly [at: number, anchor: string] {
  let rarest: readonly [at: number, anchor: string] = [0, ''];
  let fewest = Number.POSITIVE_INFINITY;
  for (const { index, 1: anchor = '' } of text.matchAll(ANCHORS)) {
    const count = countOf(anchor);
    if (count < fewest) [rarest, fewest] = [[index, anchor], count];
    if (fewest === 0) break;
  }
  return rarest;
}

/**
 * The letters that the bytes of the secret make in base64 whatever stands before and after them, for each of
 * the three positions that they can have in a group of three bytes.
 */
function base64CoresOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].map((offset) => {
    const padded = String.fromCharCode(...new Uint8Array(offset), ...bytes);
    const bits = padded.length * 8;
    return btoa(padded).slice(Math.ceil((offset * 8) / 6), Math.floor(bits / 6));
  });
}

function toPattern(text: string, twins: Readonly<Record<string, string>>): string {
  let pattern = '';
  for (const [part] of text.matchAll(/\\+|[\s\S]/gu)) {
    if (part.startsWith('\\')) pattern += backslashes(part.length);
    else pattern += /[A-Za-z\d]/.test(part) ? part : spellings(part, twins[part]);
  }
  return pattern;
}

/** One quantifier for a row of them: one for each would take for ever on a longer row. */
const backslashes = (count: number): string =>
  `(?:\\\\{${count},${count * 8}}|(?:${percent('\\')}){${count}})`;

function spellings(character: string, twin: string | undefined): string {
  const plain = escapeText(character);
  const named = NAMED_ESCAPES[character];
  const units = [...Array(character.length).keys()].map((index) => hexUnit(character.charCodeAt(index)));
  const forms = [
    character === '"' || character === '/' ? `\\\\{0,7}${plain}` : plain,
    percent(character),
    units.map((unit) => `\\\\${ESCAPES}u${unit}`).join(''),
    ...(named === undefined ? [] : [`\\\\${ESCAPES}${named}`]),
    ...(character === ' ' ? ['\\+'] : []),
    ...(twin === undefined ? [] : [escapeText(twin)]),
    ...(ENTITIES[character] === undefined ? [] : [ENTITIES[character]]),
  ];
  return `(?:${forms.join('|')})`;
}

function wellEncoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half of a pair of surrogates has no such writing.
    return text;
  }
}

/** As in an address, once or up to three times over. */
const percent = (character: string): string =>
  [...new TextEncoder().encode(character)]
    .map((byte) => `%(?:25){0,2}${anyCase(byte.toString(16).padStart(2, '0'))}`)
    .join('');

const hexUnit = (unit: number): string => anyCase(unit.toString(16).padStart(4, '0'));

const anyCase = (hex: string): string =>
  hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

const escapeText = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
