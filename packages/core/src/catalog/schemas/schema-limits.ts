/** How large a schema of a server may be before it is refused: bounded in size, depth and parts. */

import { wideMembers } from '../json/wide-objects.js';

export interface SchemaLimits {
  readonly maxSchemaBytes: number;
  readonly maxSchemaDepth: number;
  readonly maxSchemaNodes: number;
}

export const DEFAULT_SCHEMA_LIMITS: SchemaLimits = {
  maxSchemaBytes: 256 * 1_024,
  maxSchemaDepth: 32,
  maxSchemaNodes: 5_000,
};

/** Why the schema is over a limit, or undefined. Walks level by level, so depth costs no stack. */
export function measure(schema: object, limits: SchemaLimits): string | undefined {
  let level: object[] = [schema];
  let nodes = 0;
  let bytes = 0;
  // A schema keyword and what it holds are two levels of JSON: `properties`, then the property.
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.maxSchemaDepth * 2)
      return `its schema is nested more than ${limits.maxSchemaDepth} deep`;
    const next: object[] = [];
    for (const node of level) {
      nodes += 1;
      if ((wideMembers(node) ?? 0) + nodes > limits.maxSchemaNodes) return tooManyParts(limits);
      for (const key in node) {
        const value: unknown = Reflect.get(node, key);
        bytes += key.length + 4;
        if (typeof value === 'object' && value !== null) next.push(value);
        else bytes += typeof value === 'string' ? value.length + 2 : 5;
      }
    }
    if (nodes > limits.maxSchemaNodes) return tooManyParts(limits);
    if (bytes > limits.maxSchemaBytes) return `its schema is larger than ${limits.maxSchemaBytes} bytes`;
    level = next;
  }
  return undefined;
}

const tooManyParts = ({ maxSchemaNodes }: SchemaLimits): string =>
  `its schema has more than ${maxSchemaNodes} parts`;
