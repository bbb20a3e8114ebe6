/**
 * Placeholders in texts, taken apart and put together again in another client's spelling. They are never
 * filled in: a secret that stood outside a file stays outside.
 */
import { isDeepStrictEqual } from 'node:util';

export type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  /** The default is in our own spelling: it may hold placeholders, and `$${` is a literal `${`. */
  | { readonly kind: 'env' | 'input' | 'secret'; readonly name: string; readonly fallback?: string }
  | { readonly kind: 'workspaceFolder' | 'userHome' }
  /** A placeholder that only the client itself can fill in. */
  | { readonly kind: 'foreign'; readonly text: string };

export interface PlaceholderStyle {
  parse(text: string): Segment[];
  /** Undefined when the style has no spelling for it. */
  print(segment: Segment): string | undefined;
  /** True when it is not documented that the client fills in placeholders at all. */
  readonly isUndocumented?: boolean;
}

export interface Translation {
  readonly text: string;
  /** Placeholders of the source that nothing else can fill in. */
  readonly foreign: readonly string[];
  /** Placeholders that the target has no spelling for; they are in `text` in our own spelling. */
  readonly unsupported: readonly string[];
  /** False when the target would read `text` as something else than the source meant. */
  readonly isLossless: boolean;
  /** All of them, in our own spelling. */
  readonly placeholders: readonly string[];
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const isVariableName = (name: string): boolean => VARIABLE.test(name);

/** The text in the spelling of `to`. */
export function translate(text: string, from: PlaceholderStyle, to: PlaceholderStyle): Translation {
  const segments = from.parse(text);
  const unsupported: string[] = [];
  const printed = segments.map((segment) => {
    const spelling = to.print(segment);
    if (spelling !== undefined) return spelling;
    const own = TURNBUCKLE_STYLE.print(segment) ?? '';
    unsupported.push(own);
    return own;
  });
  const result = printed.join('');
  return {
    text: result,
    foreign: segments.flatMap((segment) => (segment.kind === 'foreign' ? [segment.text] : [])),
    unsupported,
    isLossless: isDeepStrictEqual(mergeLiterals(to.parse(result)), mergeLiterals(segments)),
    placeholders: segments.flatMap((segment) =>
      segment.kind === 'literal' ? [] : [TURNBUCKLE_STYLE.print(segment) ?? ''],
    ),
  };
}

/** The segments in our own spelling; undefined when it would be read as something else. */
export function printExactly(segments: readonly Segment[]): string | undefined {
  const text = segments.map((segment) => TURNBUCKLE_STYLE.print(segment)).join('');
  return isDeepStrictEqual(mergeLiterals(parseTurnbuckle(text)), mergeLiterals(segments)) ? text : undefined;
}

/** A text without placeholders in our own spelling. */
export const escapeText = (text: string): string => text.replaceAll('${', () => '$${');

/** What a text in our own spelling says; undefined if it has placeholders. */
export function plainText(text: string): string | undefined {
  const segments = parseTurnbuckle(text);
  const texts = segments.flatMap((segment) => (segment.kind === 'literal' ? [segment.text] : []));
  return texts.length === segments.length ? texts.join('') : undefined;
}

/** The same segments, with each text in one piece. */
export function mergeLiterals(segments: readonly Segment[]): Segment[] {
  const result: Segment[] = [];
  for (const segment of segments) {
    const last = result.at(-1);
    if (segment.kind === 'literal' && segment.text === '') continue;
    if (segment.kind === 'literal' && last?.kind === 'literal')
      result[result.length - 1] = { kind: 'literal', text: last.text + segment.text };
    else result.push(segment);
  }
  return result;
}

/** A style whose placeholders a pattern finds; what `toSegment` gives no answer for is literal text. */
export function patternStyle(
  pattern: RegExp,
  toSegment: (match: RegExpExecArray) => Segment | undefined,
  print: PlaceholderStyle['print'],
): PlaceholderStyle {
  return {
    parse(text) {
      const segments: Segment[] = [];
      let end = 0;
      for (const match of text.matchAll(pattern)) {
        const segment = toSegment(match);
        if (segment === undefined) continue;
        segments.push({ kind: 'literal', text: text.slice(end, match.index) }, segment);
        end = match.index + match[0].length;
      }
      return [...segments, { kind: 'literal', text: text.slice(end) }];
    },
    print: (segment) => (segment.kind === 'literal' ? segment.text : print(segment)),
  };
}

/** Our own spelling; `$${` is a literal `${`. */
export const TURNBUCKLE_STYLE: PlaceholderStyle = {
  parse: parseTurnbuckle,
  print(segment) {
    if (segment.kind === 'literal') return escapeText(segment.text);
    if (segment.kind === 'foreign') return segment.text;
    if (!('name' in segment)) return `\${${segment.kind}}`;
    const reserved = segment.name === 'workspaceFolder' || segment.name === 'userHome';
    const prefix = segment.kind === 'env' && !reserved ? '' : `${segment.kind}:`;
    return `\${${prefix}${segment.name}${segment.fallback === undefined ? '' : `:-${segment.fallback}`}}`;
  },
};

function parseTurnbuckle(text: string): Segment[] {
  const segments: Segment[] = [];
  let index = 0;
  for (let start = text.indexOf('${'); start !== -1; start = text.indexOf('${', index)) {
    if (text[start - 1] === '$') {
      segments.push({ kind: 'literal', text: `${text.slice(index, start - 1)}\${` });
      index = start + 2;
      continue;
    }
    const end = closingBrace(text, start + 2);
    if (end === -1) {
      const open: Segment = { kind: 'foreign', text: text.slice(start) };
      return [...segments, { kind: 'literal', text: text.slice(index, start) }, open];
    }
    segments.push(
      { kind: 'literal', text: text.slice(index, start) },
      toTurnbuckleSegment(text.slice(start + 2, end), text.slice(start, end + 1)),
    );
    index = end + 1;
  }
  return [...segments, { kind: 'literal', text: text.slice(index) }];
}

/** A default may hold placeholders itself. */
function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let index = from; index < text.length; index += 1) {
    if (text.startsWith('${', index)) open += 1;
    if (text[index] === '}') open -= 1;
    if (open === 0) return index;
  }
  return -1;
}

function toTurnbuckleSegment(body: string, whole: string): Segment {
  const cut = body.indexOf(':-');
  const full = cut === -1 ? body : body.slice(0, cut);
  const fallback = cut === -1 ? {} : { fallback: body.slice(cut + 2) };
  if ((full === 'workspaceFolder' || full === 'userHome') && cut === -1) return { kind: full };
  const [, kind = 'env', name = ''] = /^(?:(env|input|secret):)?(.*)$/s.exec(full) ?? [];
  if (kind === 'input' || kind === 'secret') return { kind, name, ...fallback };
  return isVariableName(name) ? { kind: 'env', name, ...fallback } : { kind: 'foreign', text: whole };
}
