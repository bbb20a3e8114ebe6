import type { ImportedServer, ServerDraft } from './imported-server.js';
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
  readonly shadowed: readonly (Origin & {
    readonly same: boolean;
  })[];
}
/** In the order of the sources. */
export declare function mergeImports(sources: readonly ImportSource[]): MergedServer[];
/** Equal for equal configurations, whatever the order of keys; an approval is worth as long as this stays. */
export declare function configHash(config: ServerDraft): string;
