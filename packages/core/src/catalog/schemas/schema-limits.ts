/** Limits on the schema of a tool: size, depth and number of nodes. */

import { wideMemberCount } from '../../json/wide-objects.js';

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

/** Which limit the schema exceeds, or undefined. Breadth-first, so that depth costs no stack. */
export function findLimitFault(schema: object, limits: SchemaLimits): string | undefined {
  let level: object[] = [schema];
  let nodes = 0;
  let bytes = 0;
  // A keyword and its content are two levels of JSON: `properties`, then the property.
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.maxSchemaDepth * 2)
      return `its schema is nested more than ${limits.maxSchemaDepth} levels deep`;
    const next: object[] = [];
    for (const node of level) {
      nodes += 1;
      if ((wideMemberCount(node) ?? 0) + nodes > limits.maxSchemaNodes) return tooManyParts(limits);
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
  `its schema has more than ${maxSchemaNodes} nodes`;
