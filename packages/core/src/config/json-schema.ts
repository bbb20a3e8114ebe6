/** The JSON Schema of a configuration file, for editors: made from the same source as the validation. */
import * as z from 'zod/mini';
import { FILE_SCHEMAS } from './file-schema.js';
import { SERVER_SCHEMAS } from './schema.js';

const { 'in-process': _inProcess, ...WRITABLE } = SERVER_SCHEMAS;

export function jsonSchema(): Record<string, unknown> {
  const server = z.union(
    Object.values(WRITABLE).map((schema) => {
      const { type, ...rest } = schema.shape;
      // The transport can be told from the other keys.
      return z.strictObject({ ...rest, type: z.optional(z.union([type, z.string()])) });
    }),
  );
  const map = z.record(z.string(), server);
  const file = z.strictObject({
    ...FILE_SCHEMAS.managed.shape,
    servers: z.optional(z.union([map, z.array(z.looseObject({}))])),
    mcpServers: z.optional(map),
  });
  return {
    ...z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' }),
    title: 'Turnbuckle configuration',
    allowTrailingCommas: true,
  };
}
