/** Servers from several files under one roof: the first of a name wins, and the others are remembered. */
import { createHash } from 'node:crypto';
/** In the order of the sources. */
export function mergeImports(sources) {
  const merged = new Map();
  for (const { client, path, servers } of sources) {
    for (const server of servers) {
      const first = merged.get(server.name);
      if (first === undefined) {
        merged.set(server.name, { ...server, from: { client, path }, shadowed: [] });
        continue;
      }
      const same = configHash(first.config) === configHash(server.config);
      merged.set(server.name, { ...first, shadowed: [...first.shadowed, { client, path, same }] });
    }
  }
  return [...merged.values()];
}
/** Equal for equal configurations, whatever the order of keys; an approval is worth as long as this stays. */
export function configHash(config) {
  return createHash('sha256')
    .update(JSON.stringify(sorted(config)))
    .digest('hex');
}
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  // A list of pairs: a key such as `__proto__` keeps its place.
  return entries.map(([key, item]) => [key, sorted(item)]);
}
//# sourceMappingURL=merge-imports.js.map
