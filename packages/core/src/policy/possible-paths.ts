/** The paths that a text may resolve to for a reader that treats it as a path. */
import { HAS_OUTER_BLANK, trimBlanks } from './blanks.js';

/** A text without any of these resolves to itself; this test is cheaper than resolving it. */
const AMBIGUOUS_PATH =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: where it ends for some, and for others not
  /[\\%\u0000]|\/\/|(?:^|\/)\.\.?(?:\/|$)|[. ]\//i;

export const isAmbiguousPath = (text: string): boolean =>
  AMBIGUOUS_PATH.test(text) || HAS_OUTER_BLANK.test(text);

/** Everything that it may resolve to, except itself. */
export function possiblePaths(text: string): readonly string[] {
  const decoded = text.replace(/%(?:25)*([0-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const texts = new Set([decoded.replaceAll('\u0000', '')]);
  // For some readers a text ends at its first NUL, others drop the NUL.
  const end = decoded.indexOf('\u0000');
  if (end >= 0) texts.add(decoded.slice(0, end));
  for (const one of [...texts]) texts.add(trimBlanks(one));
  const paths = new Set([...texts].flatMap(normalizedPaths));
  paths.delete(text);
  return [...paths];
}

/** Converts backslashes and resolves parent steps. */
function normalizedPaths(text: string): string[] {
  const turned = text.replaceAll('\\', '/').replace(/^file:\/\/(?:localhost)?(?=\/)/i, '');
  const [, scheme = '', path = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is.exec(turned) ?? [];
  const { kept, isAnywhere } = resolveSteps(path);
  const end = kept.length > 0 && path.endsWith('/') ? '/' : '';
  const whole = (names: readonly string[]): string =>
    `${scheme}${path.startsWith('/') ? '/' : ''}${names.join('/')}${end}`;
  const paths = [whole(kept)];
  // The starting directory is unknown: the path from the root is one possible meaning.
  if (isAnywhere && scheme === '') paths.push(`/${kept.join('/')}${end}`);
  // Some systems drop trailing dots and spaces of a name.
  if (/[. ](?:\/|$)/.test(path)) paths.push(whole(kept.map(withoutTrailingDots)));
  return paths;
}

function resolveSteps(path: string): { readonly kept: readonly string[]; readonly isAnywhere: boolean } {
  const kept: string[] = [];
  let isAnywhere = false;
  const isAbsolute = path.startsWith('/');
  for (const part of path.split('/')) {
    if (part === '..') {
      const left = kept.pop();
      // Above the starting directory, or above a home directory or variable, which can be a path of any length.
      isAnywhere ||= left === undefined ? !isAbsolute : /^~|[$%`]/.test(left);
    } else if (part !== '' && part !== '.') kept.push(part);
  }
  return { kept, isAnywhere };
}

function withoutTrailingDots(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end -= 1;
  return end === 0 ? name : name.slice(0, end);
}
