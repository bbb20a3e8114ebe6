/** What a caller can see: the part of the decision that lists share with calls. */
import type { CatalogTool } from '../../catalog/tool.js';
import type { CallKind } from '../../events.js';
import type { Caller } from '../../policy/capabilities.js';
import { type Decision, decideVisibility, type PolicyOptions } from '../../policy/decide.js';
import { toolSubject } from './call-subject.js';

interface Item {
  readonly kind: CallKind;
  readonly server: string;
  readonly tool: string;
}

export class Visibility {
  readonly #policy: PolicyOptions;

  constructor(policy: PolicyOptions) {
    this.#policy = policy;
  }

  /** Whether a caller can see a resource or prompt. */
  canSeeItem(caller: Caller, { kind, server, tool }: Item): boolean {
    return decideVisibility(caller, { kind, server, tool, hints: undefined }, this.#policy).action !== 'deny';
  }

  /** The decision for an item whose definition is not loaded yet. */
  decideUndiscovered(caller: Caller, { kind, server, tool }: Item): Decision {
    return decideVisibility(caller, { kind, server, tool, hints: 'unknown' }, this.#policy);
  }

  /** Whether a caller can see items of this kind on the server, unless a rule names them. */
  canSeeServer(caller: Caller, { kind, server }: Pick<Item, 'kind' | 'server'>): boolean {
    return this.decideUndiscovered(caller, { kind, server, tool: '' }).action !== 'deny';
  }

  /** Whether a caller can see the tool. */
  canSeeTool(caller: Caller, tool: CatalogTool): boolean {
    return decideVisibility(caller, toolSubject(tool), this.#policy).action !== 'deny';
  }

  /** The tools that a caller can see, with the same decision as for calls. */
  filter(caller: Caller, tools: readonly CatalogTool[]): readonly CatalogTool[] {
    return tools.filter((tool) => this.canSeeTool(caller, tool));
  }
}
