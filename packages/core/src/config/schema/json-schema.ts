/** The JSON Schema of a configuration file for editors, generated from the validation schema. */
import * as z from 'zod/mini';
import { FILE_SCHEMAS } from './file-schema.js';
import { ADJUSTMENT_SCHEMA, namesOfTransport, SERVER_SCHEMAS } from './schema.js';

export function jsonSchema(): Record<string, unknown> {
  // An in-process object cannot be written to a file.
  const { 'in-process': _inProcess, ...writable } = SERVER_SCHEMAS;
  const entries = Object.values(writable).map(({ shape }) => {
    const [type] = shape.type.def.values;
    // The transport follows from the other keys.
    return { ...shape, type: z.optional(z.enum(namesOfTransport(type))) };
  });
  const variants = [...entries, ADJUSTMENT_SCHEMA.shape];
  const map = z.record(z.string(), z.union(variants.map((shape) => z.strictObject(shape))));
  // A hosted-proxy entry has its own `id`, so its name can only be `name`.
  const named = variants.flatMap((shape) => [
    z.strictObject({ ...shape, name: z.string() }),
    ...('id' in shape ? [] : [z.strictObject({ ...shape, id: z.string() })]),
  ]);
  const servers = z.optional(z.union([map, z.array(z.union(named))]));
  const file = z.strictObject({ ...FILE_SCHEMAS.managed.shape, servers, mcpServers: servers });
  return {
    ...z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' }),
    title: 'Turnbuckle configuration',
    allowTrailingCommas: true,
  };
}
