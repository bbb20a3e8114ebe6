/** The tools of a daemon's servers, as they were when they were read. */
import type { CatalogTool } from 'turnbuckle';

/** A tool in the list for programs that call. */
export interface SchemaTool {
  readonly name: string;
  readonly input_schema: CatalogTool['inputSchema'];
  readonly output_schema?: CatalogTool['outputSchema'];
}

export class RemoteCatalog {
  readonly #byName = new Map<string, CatalogTool>();

  /** Takes over tools; the schemas come from the other list. */
  add(listed: readonly CatalogTool[], schemas: readonly SchemaTool[]): void {
    const byName = new Map(schemas.map((tool) => [tool.name, tool]));
    for (const tool of listed) {
      const { input_schema: inputSchema = {}, output_schema: outputSchema } = byName.get(tool.name) ?? {};
      this.#byName.set(tool.name, { ...tool, inputSchema, outputSchema, definition: {} });
    }
  }

  list(): readonly CatalogTool[] {
    return [...this.#byName.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  listByServer(server: string): readonly CatalogTool[] {
    return this.list().filter((tool) => tool.server === server);
  }

  find(server: string, name: string): CatalogTool | undefined {
    return this.listByServer(server).find(({ tool }) => tool === name);
  }

  /** By the daemon's name for it, or by the one that it has without a daemon. */
  get(name: string): CatalogTool | undefined {
    const isMeant = ({ server, tool }: CatalogTool): boolean =>
      [`mcp__${server}__${tool}`, `mcp_${server}_${tool}`, `${server}_${tool}`].includes(name);
    return this.#byName.get(name) ?? this.list().find(isMeant);
  }
}
