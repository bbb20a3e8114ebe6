/** A server's entry as it may be shown: literal values that can be secrets are hidden, placeholders stay. */
const HIDDEN = '[hidden]';
export function redactEntry(entry) {
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => {
      if ((key === 'env' || key === 'headers') && typeof value === 'object' && value !== null) {
        return [key, Object.fromEntries(Object.entries(value).map(([name, text]) => [name, hide(text)]))];
      }
      return [key, key === 'token' ? hide(value) : value];
    }),
  );
}
const hide = (value) => (typeof value === 'string' && value.includes('${') ? value : HIDDEN);
//# sourceMappingURL=redact-entry.js.map
