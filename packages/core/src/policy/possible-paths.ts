/** The paths that a text comes to for whoever takes it for one. */

/** What has none of these is the path that it says: cheaper to tell than to read it. */
const ANOTHER =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: where it ends for some, and for others not
  /[\\%\u0000]|\/\/|(?:^|\/)\.\.?(?:\/|$)|^\s|\s$|[. ]\//i;

export const canMeanAnotherPath = (text: string): boolean => ANOTHER.test(text);

/** Everything that it may come to, itself left out. */
export function pathsMeant(text: string): readonly string[] {
  const decoded = text.replace(/%(?:25)*([0-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const texts = new Set([decoded.replaceAll('\u0000', '')]);
  // To some a text ends at its first zero byte, to others that byte is not there.
  const end = decoded.indexOf('\u0000');
  if (end >= 0) texts.add(decoded.slice(0, end));
  for (const one of [...texts]) texts.add(one.trim());
  const paths = new Set([...texts].flatMap(readingsOf));
  paths.delete(text);
  return [...paths];
}

/** Backslashes turned, steps upwards taken. */
function readingsOf(text: string): string[] {
  const turned = text.replaceAll('\\', '/').replace(/^file:\/\/(?:localhost)?(?=\/)/i, '');
  const [, scheme = '', path = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is.exec(turned) ?? [];
  const { kept, isAnywhere } = walk(path);
  const end = kept.length > 0 && path.endsWith('/') ? '/' : '';
  const whole = (names: readonly string[]): string =>
    `${scheme}${path.startsWith('/') ? '/' : ''}${names.join('/')}${end}`;
  const paths = [whole(kept)];
  // Nobody knows here how far up it began: where it leads to from the top is what it may mean.
  if (isAnywhere && scheme === '') paths.push(`/${kept.join('/')}${end}`);
  // Some systems leave out dots and spaces at the end of a name.
  if (/[. ](?:\/|$)/.test(path)) paths.push(whole(kept.map(withoutEnd)));
  return paths;
}

function walk(path: string): { readonly kept: readonly string[]; readonly isAnywhere: boolean } {
  const kept: string[] = [];
  let isAnywhere = false;
  const isAbsolute = path.startsWith('/');
  for (const part of path.split('/')) {
    if (part === '..') {
      const left = kept.pop();
      // Above where it began, or above a home or a variable, which stand for a path of any length.
      isAnywhere ||= left === undefined ? !isAbsolute : /^~|[$%`]/.test(left);
    } else if (part !== '' && part !== '.') kept.push(part);
  }
  return { kept, isAnywhere };
}

function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end -= 1;
  return end === 0 ? name : name.slice(0, end);
}
