/** What is longer fits only itself: servers write templates, and every address that is read is held against them. */
const MOST_OF_TEMPLATE = 512;
const MOST_OF_ADDRESS = 2_048;

/** Whether an address can come from a template: each of its expressions stands for some text. Bounded in time. */
export function fitsTemplate(template: string, uri: string): boolean {
  if (template.length > MOST_OF_TEMPLATE || uri.length > MOST_OF_ADDRESS) return template === uri;
  const texts = textsOf(template);
  const last = texts.pop() ?? '';
  const [first, ...between] = texts;
  if (first === undefined) return template === uri;
  if (!uri.startsWith(first) || !uri.endsWith(last)) return false;
  let at = first.length;
  for (const text of between) {
    const found = uri.indexOf(text, at);
    if (found === -1) return false;
    at = found + text.length;
  }
  return at <= uri.length - last.length;
}

/** What stands before, between and after the expressions. */
function textsOf(template: string): string[] {
  const texts: string[] = [];
  for (let at = 0; ; ) {
    const open = template.indexOf('{', at);
    const close = open === -1 ? -1 : template.indexOf('}', open);
    if (close === -1) return [...texts, template.slice(at)];
    texts.push(template.slice(at, open));
    at = close + 1;
  }
}
