/** Whether any text in a value passes: values and names, at any depth. Cycles are visited once. */
export function someText(value: unknown, test: (text: string) => boolean): boolean {
  const open = [value];
  const seen = new Set<object>();
  for (let item = open.pop(); item !== undefined || open.length > 0; item = open.pop()) {
    if (typeof item === 'string' || typeof item === 'number') {
      if (test(String(item))) return true;
    } else if (typeof item === 'object' && item !== null && !seen.has(item)) {
      seen.add(item);
      for (const key of Object.keys(item)) {
        if (!Array.isArray(item) && test(key)) return true;
        open.push(Reflect.get(item, key));
      }
    }
  }
  return false;
}
