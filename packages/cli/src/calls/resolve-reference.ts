/** What a local reference of a JSON Schema (`#/$defs/name`) points at; undefined for any other. */
export function resolveReference(reference: string, root: Readonly<Record<string, unknown>>): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (node, part) =>
        typeof node === 'object' && node !== null && Object.hasOwn(node, part)
          ? Reflect.get(node, part)
          : undefined,
      root,
    );
}
