/** The MCP tools that a step offers to the model: what the caller can see, within bounds. */

import type { OfferedTool } from '@turnbuckle/model';
import type { CatalogTool } from 'turnbuckle';
import { cut } from '../conversations/message.js';
import { isBuiltIn } from './built-in-tools.js';

/** Model servers refuse more. */
const MAX_TOOLS = 120;
const MAX_DESCRIPTION_CHARACTERS = 1_000;
const MAX_SCHEMA_CHARACTERS = 8_000;
/** Of all schemas together. */
const MAX_TOTAL_CHARACTERS = 200_000;

/** A tool that has the name of a built-in one, or a schema above the limit, is not offered. */
export function toOfferedTools(tools: readonly CatalogTool[]): OfferedTool[] {
  let left = MAX_TOTAL_CHARACTERS;
  const offered: OfferedTool[] = [];
  for (const { name, description = '', inputSchema } of tools) {
    if (offered.length >= MAX_TOOLS) break;
    const size = JSON.stringify(inputSchema).length;
    if (isBuiltIn(name) || size > Math.min(MAX_SCHEMA_CHARACTERS, left)) continue;
    left -= size;
    const schema = inputSchema as Readonly<Record<string, unknown>>;
    offered.push({ name, description: cut(description, MAX_DESCRIPTION_CHARACTERS), inputSchema: schema });
  }
  return offered;
}
