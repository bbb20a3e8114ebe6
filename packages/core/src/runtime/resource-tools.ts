/** Resources and prompts as tools, for agents that only know tools. */
import type { Runtime } from './runtime.js';

const server = { type: 'string', description: 'Name of the server; leave out for all' };
const readOnly = { readOnlyHint: true, openWorldHint: false };

export function registerResourceTools(runtime: Runtime): void {
  runtime.registerTool({
    name: 'list_mcp_resources',
    description: 'Lists the resources (files, records, documents) that the connected MCP servers offer.',
    inputSchema: { type: 'object', properties: { server }, additionalProperties: false },
    annotations: readOnly,
    // What they show is what the caller may see anyway.
    public: true,
    run: async (input, { caller }) => ({
      resources: await runtime.listResources(text(input.server), caller),
      templates: await runtime.listResourceTemplates(text(input.server), caller),
    }),
  });
  runtime.registerTool({
    name: 'read_mcp_resource',
    description: 'Reads one resource of an MCP server by its URI.',
    inputSchema: {
      type: 'object',
      properties: {
        server: { ...server, description: 'Name of the server' },
        uri: { type: 'string', description: 'URI of the resource' },
      },
      required: ['server', 'uri'],
      additionalProperties: false,
    },
    annotations: readOnly,
    public: true,
    run: (input, { signal, caller }) =>
      runtime.readResource(String(input.server), String(input.uri), { signal, caller }),
  });
  runtime.registerTool({
    name: 'list_mcp_prompts',
    description: 'Lists the prompts that the connected MCP servers offer.',
    inputSchema: { type: 'object', properties: { server }, additionalProperties: false },
    annotations: readOnly,
    public: true,
    run: async (input, { caller }) => ({ prompts: await runtime.listPrompts(text(input.server), caller) }),
  });
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
