/** The result of authorizing a call. */
import type { CatalogTool } from '../../catalog/tool.js';
import type { ServerConfig } from '../../config/schema/schema.js';
import type { Caller } from '../../policy/capabilities.js';
import type { Decision } from '../../policy/decide.js';
import type { Permit } from './permit.js';

export interface Authorization {
  readonly decision: Decision;
  /** The call may be made: it is allowed or approved. */
  readonly granted: boolean;
  /** An `ask` that a session approval answered. */
  readonly remembered: boolean;
  /** False if the decision was already reported. */
  readonly isAnnounced: boolean;
  /** The definition at the time of the decision; undefined for resources and prompts, and for a removed tool. */
  readonly definition: CatalogTool | undefined;
  /** What a person approved. */
  readonly permits: readonly Permit[];
  /** Version of all inputs of the decision at that time. */
  readonly version: number;
  readonly config: ServerConfig | undefined;
}

/** The current definition of a tool, for this caller. */
export type FindCurrentDefinition = (
  definition: CatalogTool | undefined,
  caller: Caller | undefined,
) => CatalogTool | undefined;
