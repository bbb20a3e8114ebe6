/** A longer URI matches only itself: templates come from servers, and every URI that is read is matched against them. */
const MAX_TEMPLATE_CHARACTERS = 512;
const MAX_URI_CHARACTERS = 2_048;

/** Whether a URI can come from a template: each expression matches any text. Bounded in time. */
export function matchesTemplate(template: string, uri: string): boolean {
  if (template.length > MAX_TEMPLATE_CHARACTERS || uri.length > MAX_URI_CHARACTERS) return template === uri;
  const texts = literalsOf(template);
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

/** The text before, between and after the expressions. */
function literalsOf(template: string): string[] {
  const texts: string[] = [];
  for (let at = 0; ; ) {
    const open = template.indexOf('{', at);
    const close = open === -1 ? -1 : template.indexOf('}', open);
    if (close === -1) return [...texts, template.slice(at)];
    texts.push(template.slice(at, open));
    at = close + 1;
  }
}
