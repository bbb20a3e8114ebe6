/** The JSON Schema of a configuration file for editors, generated from the validation schema. */
import * as z from 'zod/mini';
import { FILE_SCHEMAS } from './file-schema.js';
import { ADJUSTMENT_SCHEMA, namesOfTransport, SERVER_SCHEMAS } from './schema.js';

export function jsonSchema(): Record<string, unknown> {
  // An in-process object cannot be written to a file.
  const { 'in-process': _inProcess, ...writable } = SERVER_SCHEMAS;
  const entries = Object.values(writable).flatMap(({ shape }) => {
    const [type] = shape.type.def.values;
    const name = z.enum(namesOfTransport(type));
    // The transport follows from the other keys.
    const named = { ...shape, type: z.optional(name), transport: z.optional(name) };
    if (!('baseUrl' in shape)) return [named];
    // With a `url`, the transport has to be named.
    const { baseUrl, ...rest } = shape;
    const byUrl = { ...rest, url: baseUrl, type: z.optional(name), transport: z.optional(name) };
    return [named, { ...byUrl, type: name }, { ...byUrl, transport: name }];
  });
  const variants: readonly z.core.$ZodShape[] = [...entries, ADJUSTMENT_SCHEMA.shape];
  const map = z.record(z.string(), z.union(variants.map((shape) => z.strictObject(shape))));
  // A hosted-proxy entry has its own `id`, so its name can only be `name`.
  const named = variants.flatMap((shape): z.core.$ZodShape[] => {
    const text = z.string();
    if ('id' in shape) return [{ ...shape, name: text }];
    return [
      { ...shape, name: text, id: z.optional(text) },
      { ...shape, id: text },
    ];
  });
  const servers = z.optional(z.union([map, z.array(z.union(named.map((shape) => z.strictObject(shape))))]));
  const file = z.strictObject({ ...FILE_SCHEMAS.managed.shape, servers, mcpServers: servers });
  return {
    ...z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' }),
    title: 'Turnbuckle configuration',
    allowTrailingCommas: true,
  };
}
