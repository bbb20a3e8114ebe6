/** The tools through which a model asks the steward for work: they queue and report, and change nothing themselves. */
import type { CatalogTool, NativeTool, Runtime } from 'turnbuckle';
import { NativeResults, type Steps } from 'turnbuckle/host';
import { PRIORITIES, type Priority } from '../requests/request.js';
import type { StewardHost } from './steward-host.js';

/** Callers with this capability see the tools. */
export const STEWARD_CAPABILITY = 'mcp_steward';

const TEXT = { type: 'string', maxLength: 2_000 };

const MAX_DESCRIPTION_LENGTH = 300;

const REQUEST_ID = {
  type: 'object',
  properties: { requestId: { type: 'string', maxLength: 128 } },
  required: ['requestId'],
  additionalProperties: false,
} as const;

const SHARED = { capability: STEWARD_CAPABILITY, needsApproval: false, hasReservedName: true } as const;

/** Registered while the steward is enabled. */
export const createStewardTools = (host: StewardHost, runtime: Runtime): readonly NativeTool[] => [
  createAdditionTool(host),
  ...createRequestTools(host),
  createListTool(runtime),
];

const createAdditionTool = (host: StewardHost): NativeTool => ({
  ...SHARED,
  name: 'mcp_request_server_addition',
  description:
    'Ask the steward to find, install and test an MCP server in the background. A person must approve the installation. Returns the request id immediately.',
  inputSchema: {
    type: 'object',
    properties: {
      serverName: {
        ...TEXT,
        maxLength: 128,
        description: 'Name for the new server, or its name in the registry',
      },
      purpose: { ...TEXT, description: 'What the server should do' },
      priority: { type: 'string', enum: [...PRIORITIES] },
    },
    required: ['purpose'],
    additionalProperties: false,
  },
  run: async ({ serverName, purpose, priority }, { callerId }) => {
    const name = typeof serverName === 'string' && serverName !== '' ? serverName : undefined;
    const isRegistryName = name?.includes('/') === true;
    const requestId = await host.request({
      type: 'add_server',
      params: {
        purpose,
        ...(name !== undefined && (isRegistryName ? { registryName: name } : { serverName: name })),
      },
      priority: priority as Priority | undefined,
      requestedBy: callerId,
    });
    return { requestId, state: 'queued' };
  },
});

/** An agent sees and cancels only its own requests. */
const createRequestTools = (host: StewardHost): readonly NativeTool[] => [
  {
    ...SHARED,
    name: 'mcp_check_subagent_status',
    description: 'Show the state, progress and result of a request to the steward.',
    annotations: { readOnlyHint: true },
    inputSchema: REQUEST_ID,
    run: async ({ requestId }, { callerId }) => host.statusFor(String(requestId), callerId),
  },
  {
    ...SHARED,
    name: 'mcp_cancel_subagent_work',
    description: 'Cancel a request to the steward. Its changes are undone.',
    inputSchema: { ...REQUEST_ID, properties: { ...REQUEST_ID.properties, reason: TEXT } },
    run: async ({ requestId, reason }, { callerId }) => {
      await host.statusFor(String(requestId), callerId);
      return host.queue.cancelRequest(
        String(requestId),
        typeof reason === 'string' ? reason : 'no reason given',
      );
    },
  },
];

const createListTool = (runtime: Runtime): NativeTool => ({
  ...SHARED,
  name: 'mcp_list_available_tools',
  description:
    'List all MCP tools that you can call now, with the energy that each call is likely to use. Long lists are paginated.',
  annotations: { readOnlyHint: true },
  inputSchema: {
    type: 'object',
    properties: {
      cursor: { type: 'string', maxLength: 100, description: 'nextCursor from the previous page' },
    },
    additionalProperties: false,
  },
  run: async ({ cursor }, context) => {
    const tools = await runtime.visibleTools(context.caller);
    return new NativeResults(context).page({ tools }, cursor, {
      weigh: ({ name, server, description }) => [name, server, description?.slice(0, MAX_DESCRIPTION_LENGTH)],
      toEntry: (tool) => toListedTool(tool, runtime),
    });
  },
});

function* toListedTool(tool: CatalogTool, runtime: Runtime): Steps<object> {
  const { name, server, native, description } = tool;
  return {
    name,
    server,
    ...(description !== undefined && {
      description: String(yield* runtime.redactSteps(description)).slice(0, MAX_DESCRIPTION_LENGTH),
    }),
    ...(!native && { estimatedEnergyCost: runtime.energy?.estimate(tool) }),
  };
}
