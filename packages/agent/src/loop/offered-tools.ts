/** The MCP tools that a step offers to the model: what the caller can see, within bounds. */

import type { OfferedTool } from '@turnbuckle/model';
import type { CatalogTool } from 'turnbuckle';
import { cut } from '../conversations/message.js';
import { isBuiltIn } from './built-in-tools.js';
import type { AgentRuntime } from './loop-parts.js';

/** Model servers refuse more. */
const MAX_TOOLS = 120;
const MAX_DESCRIPTION_CHARACTERS = 1_000;
const MAX_SCHEMA_CHARACTERS = 8_000;
/** Of all schemas together. */
const MAX_TOTAL_CHARACTERS = 200_000;

/** A schema is the same object until its server lists its tools anew. */
const sizes = new WeakMap<object, number>();

function sizeOf(schema: object): number {
  const known = sizes.get(schema);
  if (known !== undefined) return known;
  const size = JSON.stringify(schema).length;
  sizes.set(schema, size);
  return size;
}

type Redaction = Pick<AgentRuntime, 'knowsSecret' | 'redact'>;

/** A tool that has the name of a built-in one, or a schema above the limit or with a known secret, is not offered. */
export function toOfferedTools(tools: readonly CatalogTool[], runtime: Redaction): OfferedTool[] {
  let left = MAX_TOTAL_CHARACTERS;
  const offered: OfferedTool[] = [];
  for (const { name, description = '', inputSchema } of tools) {
    if (offered.length >= MAX_TOOLS) break;
    const size = sizeOf(inputSchema);
    if (isBuiltIn(name) || size > Math.min(MAX_SCHEMA_CHARACTERS, left)) continue;
    if (runtime.knowsSecret({ name, inputSchema })) continue;
    left -= size;
    const schema = inputSchema as Readonly<Record<string, unknown>>;
    const shown = cut(String(runtime.redact(description)), MAX_DESCRIPTION_CHARACTERS);
    offered.push({ name, description: shown, inputSchema: schema });
  }
  return offered;
}
