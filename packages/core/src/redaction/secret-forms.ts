/** The notations of a known secret: plain, escaped for JSON or a URL, or inside something in base64. */

/** One more backslash for each time JSON is nested in JSON: up to this many levels. */
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
/** The URL-safe base64 alphabet differs in two letters. */
const BASE64_TWINS: Readonly<Record<string, string>> = { '+': '-', '/': '_' };

/** This much of a long token identifies it; the rest is any run of token characters. */
const TOKEN_PREFIX_LENGTH = 64;
const TOKEN = /^[\w.~+/=-]+$/;

export const ANCHOR_LENGTH = 4;
const ANCHORS = new RegExp(`(?=([A-Za-z\\d]{${ANCHOR_LENGTH}}))`, 'g');

/** A notation of a secret: its anchor is literal, the rest are regular expression sources without groups. */
export interface SecretForm {
  readonly before: string;
  /** Letters and digits; empty if it has no such run, and everything is in `after`. */
  readonly anchor: string;
  readonly after: string;
  /** Only its beginning is searched: it continues as long as the token. */
  readonly isTruncated: boolean;
}

/**
 * How many forms already have an anchor: many secrets begin alike, and all that share one are tried where it occurs.
 */
type CountOf = (anchor: string) => number;

export function formsOf(secret: string, countOf: CountOf): SecretForm[] {
  return [
    toForm(secret, {}, countOf),
    ...base64CoresOf(secret).map((core) => toForm(core, BASE64_TWINS, countOf)),
  ];
}

/** The usual notations, letter by letter: for texts that end in the middle of one. */
export function plainFormsOf(secret: string): string[] {
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

function toForm(text: string, twins: Readonly<Record<string, string>>, countOf: CountOf): SecretForm {
  const long = text.length > TOKEN_PREFIX_LENGTH * 2 && TOKEN.test(text);
  const start = long ? text.slice(0, TOKEN_PREFIX_LENGTH) : text;
  const [at, anchor] = rarestAnchor(start, countOf);
  return {
    before: toPattern(start.slice(0, at), twins),
    anchor,
    after: toPattern(start.slice(at + anchor.length), twins),
    isTruncated: long,
  };
}

/** The first unused anchor, or else the least used. */
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
 * The base64 letters of the secret's bytes that do not depend on their surroundings, for each of the three positions
 * in a group of three bytes.
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
    else pattern += /[A-Za-z\d]/.test(part) ? part : characterForms(part, twins[part]);
  }
  return pattern;
}

/** One quantifier for a run of them: one for each would take exponential time on a longer run. */
const backslashes = (count: number): string =>
  `(?:\\\\{${count},${count * 8}}|(?:${percent('\\')}){${count}})`;

function characterForms(character: string, twin: string | undefined): string {
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
    // A lone surrogate cannot be encoded.
    return text;
  }
}

/** Percent-encoded, up to three times over. */
const percent = (character: string): string =>
  [...new TextEncoder().encode(character)]
    .map((byte) => `%(?:25){0,2}${anyCase(byte.toString(16).padStart(2, '0'))}`)
    .join('');

const hexUnit = (unit: number): string => anyCase(unit.toString(16).padStart(4, '0'));

const anyCase = (hex: string): string =>
  hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

const escapeText = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
