/** `manifest.json` of a bundle (mcpb): the part that says how its server is started. */
import * as z from 'zod/mini';

const short = z.string().check(z.maxLength(4_096));

const userConfig = z.object({
  description: z.catch(z.optional(short), undefined),
  title: z.catch(z.optional(short), undefined),
  required: z.catch(z.optional(z.boolean()), undefined),
  sensitive: z.catch(z.optional(z.boolean()), undefined),
  default: z.catch(z.optional(z.union([short, z.number(), z.boolean()])), undefined),
});

export const MCPB_MANIFEST_SCHEMA = z.object({
  name: short,
  version: short,
  server: z.object({
    type: short,
    entry_point: short,
    mcp_config: z.object({
      command: short,
      args: z._default(z.array(short).check(z.maxLength(100)), []),
      env: z._default(z.record(z.string(), short), {}),
    }),
  }),
  user_config: z._default(z.record(z.string(), userConfig), {}),
});

export type McpbManifest = z.output<typeof MCPB_MANIFEST_SCHEMA>;
