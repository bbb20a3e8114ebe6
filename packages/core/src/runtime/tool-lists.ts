/** The tools of all servers: everything, or what one caller may see. */
import type { Visibility } from '../calls/authorization/visibility.js';
import type { Catalog } from '../catalog/catalog.js';
import { searchSteps, searchWords } from '../catalog/search-tools.js';
import type { CatalogTool } from '../catalog/tool.js';
import { inSlices, runToEnd } from '../json/slices.js';
import type { Caller } from '../policy/capabilities.js';
import type { ServerSet } from '../servers/server-set.js';
import type { ItemLists } from './item-lists.js';
import type { OwnTools } from './own-tools.js';

export interface ToolListsParts {
  readonly catalog: Catalog;
  readonly servers: ServerSet;
  readonly items: ItemLists;
  readonly visibility: Visibility;
  readonly ownTools: OwnTools;
  readonly monotonicNow: () => number;
}

export class ToolLists {
  readonly #parts: ToolListsParts;

  constructor(parts: ToolListsParts) {
    this.#parts = parts;
  }

  /** Stale lists are refreshed in the background. */
  all(): readonly CatalogTool[] {
    const { catalog, servers, items, monotonicNow } = this.#parts;
    for (const server of servers.live()) {
      if (catalog.stateOf(server.name, 'tools', monotonicNow()) === 'stale')
        void items.refresh(server).catch(() => {});
    }
    return catalog.list();
  }

  forCaller(caller: Caller, search: string): readonly CatalogTool[] {
    const words = searchWords(search);
    const { visibility, ownTools } = this.#parts;
    const visible = ownTools.extendWithKnown(caller, visibility.filter(caller, this.all()));
    return runToEnd(searchSteps(visible, words));
  }

  /** Without blocking the event loop. */
  async visible(caller: Caller | undefined, search: string): Promise<readonly CatalogTool[]> {
    const words = searchWords(search);
    const tools = this.all();
    const { items, ownTools } = this.#parts;
    const visible =
      caller === undefined ? tools : await ownTools.extend(caller, await items.visibleTools(caller));
    return inSlices(searchSteps(visible, words));
  }
}
