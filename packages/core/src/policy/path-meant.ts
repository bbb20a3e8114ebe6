/** The path that a text comes to for whoever takes it for one. */

/** What has none of these is the path that it says: cheaper to tell than to read it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: where it ends for some, and for others not
const ANOTHER = /[\\%\u0000]|\/\/|(?:^|\/)\.\.?(?:\/|$)/;

export const canMeanAnotherPath = (text: string): boolean => ANOTHER.test(text);

/** Percent signs decoded, backslashes turned, steps upwards taken. */
export function toPath(text: string): string {
  const decoded = text
    .replace(/%(?:25)*([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\u0000', '')
    .replaceAll('\\', '/')
    .replace(/^file:\/\/(?:localhost)?(?=\/)/i, '');
  const [, scheme = '', path = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is.exec(decoded) ?? [];
  const kept: string[] = [];
  const parts = path.split('/');
  for (const part of parts) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  const isDirectory = kept.length > 0 && path.endsWith('/');
  return `${scheme}${path.startsWith('/') ? '/' : ''}${kept.join('/')}${isDirectory ? '/' : ''}`;
}
