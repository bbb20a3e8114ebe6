/** Servers from several files under one roof: the first of a name wins, and the others are remembered. */
import { createHash } from 'node:crypto';
import type { ImportedServer, ServerDraft } from './entries/imported-server.js';

export interface ImportSource {
  readonly client: string;
  readonly path: string;
  readonly servers: readonly ImportedServer[];
}

interface Origin {
  readonly client: string;
  readonly path: string;
}

export interface MergedServer extends ImportedServer {
  readonly from: Origin;
  /** Files that have a server of the same name, which is not used; `same` when it is the same server. */
  readonly shadowed: readonly (Origin & { readonly same: boolean })[];
}

/** In the order of the sources. */
export function mergeImports(sources: readonly ImportSource[]): MergedServer[] {
  const merged = new Map<string, MergedServer>();
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
export function configHash(config: ServerDraft): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(config)))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  // A list of pairs: a key such as `__proto__` keeps its place.
  return entries.map(([key, item]) => [key, sorted(item)]);
}
