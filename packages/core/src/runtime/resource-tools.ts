/** Resources and prompts as tools, for agents that only know tools. */
import type { Runtime } from './runtime.js';

const server = { type: 'string', description: 'Server name; omit for all servers' };
const readOnly = { readOnlyHint: true, openWorldHint: false };

export function registerResourceTools(runtime: Runtime): void {
  runtime.registerTool({
    name: 'list_mcp_resources',
    description: 'List the resources (files, records, documents) of the connected MCP servers.',
    inputSchema: { type: 'object', properties: { server }, additionalProperties: false },
    annotations: readOnly,
    // Public: the results contain only what the caller can see.
    public: true,
    run: async (input, { caller }) => ({
      resources: await runtime.listResources(text(input.server), caller),
      templates: await runtime.listResourceTemplates(text(input.server), caller),
    }),
  });
  runtime.registerTool({
    name: 'read_mcp_resource',
    description: 'Read one resource from an MCP server by its URI.',
    inputSchema: {
      type: 'object',
      properties: {
        server: { ...server, description: 'Server name' },
        uri: { type: 'string', description: 'Resource URI' },
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
    description: 'List the prompts of the connected MCP servers.',
    inputSchema: { type: 'object', properties: { server }, additionalProperties: false },
    annotations: readOnly,
    public: true,
    run: async (input, { caller }) => ({ prompts: await runtime.listPrompts(text(input.server), caller) }),
  });
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
