/** Where the tables of a TOML text begin and end. */
import { parse } from 'smol-toml';
import { isEntry } from './plain-value.js';

export interface TomlSection {
  /** Empty for what stands before the first table. */
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Every table header at the top level, in order; brackets inside values are not mistaken for one. */
export function tomlSections(text: string): TomlSection[] {
  const starts: { path: readonly string[]; start: number }[] = [{ path: [], start: 0 }];
  let depth = 0;
  let lineStart = true;
  for (let index = 0; index < text.length; ) {
    const char = text[index];
    if (char === '#') index = lineEnd(text, index);
    else if (char === '"' || char === "'") index = stringEnd(text, index);
    else if (char === '[' && depth === 0 && lineStart) {
      const end = lineEnd(text, index);
      starts.push({ path: pathOf(text.slice(index, end)), start: text.lastIndexOf('\n', index) + 1 });
      index = end;
    } else {
      if (char === '[' || char === '{') depth += 1;
      if (char === ']' || char === '}') depth -= 1;
      index += 1;
    }
    lineStart = char === '\n' || (lineStart && (char === ' ' || char === '\t'));
  }
  return starts.map(({ path, start }, index) => ({
    path,
    start,
    end: starts[index + 1]?.start ?? text.length,
  }));
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function stringEnd(text: string, from: number): number {
  const quote = text[from] ?? '';
  const fence = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
  let index = from + fence.length;
  while (index < text.length && !text.startsWith(fence, index))
    index += quote === '"' && text[index] === '\\' ? 2 : 1;
  index += fence.length;
  // Up to two quotes may stand directly before the closing three.
  if (fence.length === 3) while (text[index] === quote) index += 1;
  return index;
}

/** The library reads the header, quoted keys included. */
function pathOf(header: string): string[] {
  const path: string[] = [];
  for (let value: unknown = parse(header); ; ) {
    if (Array.isArray(value)) value = value[0];
    const [key] = isEntry(value) ? Object.keys(value) : [];
    if (key === undefined || !isEntry(value)) return path;
    path.push(key);
    value = value[key];
  }
}
