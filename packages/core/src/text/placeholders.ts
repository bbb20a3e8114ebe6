/** Finds the placeholders in a text: syntax only, nothing is resolved. */
import { isRecord } from '../json/is-record.js';

export interface Placeholder {
  /** `VAR`, `env:VAR`, `input:id`, `secret:name`, `workspaceFolder` or `userHome`. */
  readonly name: string;
  /** The default after `:-`; may contain placeholders itself. */
  readonly fallback: string | undefined;
}

/** Literal texts and placeholders in order. */
export type Pieces = ReadonlyArray<string | Placeholder>;

/** The beginning of an invalid placeholder; the rest is not shown because it may be a secret. */
export class MalformedPlaceholder {
  readonly beginning: string;

  constructor(text: string) {
    const [shown] = /^\$\{[\w:.$-]{0,40}/.exec(text) ?? ['${'];
    this.beginning = `${shown}…`;
  }
}

export function splitPlaceholders(text: string): Pieces | MalformedPlaceholder {
  const pieces: Array<string | Placeholder> = [];
  let index = 0;
  for (let start = text.indexOf('${'); start !== -1; start = text.indexOf('${', index)) {
    if (start > index && text[start - 1] === '$') {
      pieces.push(`${text.slice(index, start - 1)}\${`);
      index = start + 2;
      continue;
    }
    const end = closingBrace(text, start + 2);
    const placeholder = end === -1 ? undefined : toPlaceholder(text.slice(start + 2, end));
    if (placeholder === undefined) return new MalformedPlaceholder(text.slice(start));
    pieces.push(text.slice(index, start), placeholder);
    index = end + 1;
  }
  pieces.push(text.slice(index));
  return pieces;
}

/** The first placeholder in a configuration that can never be filled in, and the path of keys to it. */
export function findMalformed(
  value: unknown,
): { readonly keys: readonly PropertyKey[]; readonly beginning: string } | undefined {
  if (typeof value === 'string') {
    const wrong = malformedIn(value);
    return wrong === undefined ? undefined : { keys: [], beginning: wrong.beginning };
  }
  const parts = Array.isArray(value) ? [...value.entries()] : isRecord(value) ? Object.entries(value) : [];
  for (const [key, part] of parts) {
    const found = findMalformed(part);
    if (found !== undefined) return { ...found, keys: [key, ...found.keys] };
  }
  return undefined;
}

function malformedIn(text: string): MalformedPlaceholder | undefined {
  const pieces = splitPlaceholders(text);
  if (pieces instanceof MalformedPlaceholder) return pieces;
  for (const piece of pieces) {
    const wrong = typeof piece === 'string' ? undefined : malformedIn(piece.fallback ?? '');
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Deeper than anyone writes them. Each level is parsed again when it is filled in. */
const MAX_NESTED = 10;

/** The brace that closes the one before `from`; a default may contain placeholders, up to the maximum depth. */
function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let index = from; index < text.length; index += 1) {
    if (text[index] === '{' && text[index - 1] === '$') open += 1;
    if (open > MAX_NESTED) return -1;
    if (text[index] === '}') open -= 1;
    if (open === 0) return index;
  }
  return -1;
}

const NAME = /^((env:)?[A-Za-z_][A-Za-z0-9_]*|(input|secret):[^{}]+)$/;

function toPlaceholder(body: string): Placeholder | undefined {
  const cut = body.indexOf(':-');
  const name = cut === -1 ? body : body.slice(0, cut);
  return NAME.test(name) ? { name, fallback: cut === -1 ? undefined : body.slice(cut + 2) } : undefined;
}
