/** Resources and prompts as tools, for agents that only know tools. */
import type { NativeContext, NativeTool } from '../catalog/native.js';
import { isRecord } from '../json/is-record.js';
import { inSlices } from '../json/slices.js';
import { writeInSlices } from '../json/write-large.js';
import type { Runtime } from './runtime.js';

/** Where callers find the tools: nowhere, only in views that switch them on, or everywhere. */
export type ResourceToolPlace = 'nowhere' | 'views' | 'everywhere';

/** A host can have a tool of its own with one of the names: it stays. */
const registered = new WeakSet<NativeTool>();

/** Adds, moves or removes the tools. A name that a tool of a server has by now stays with that tool. */
export function setResourceTools(runtime: Runtime, place: ResourceToolPlace): void {
  const { catalog } = runtime;
  for (const tool of createResourceTools(runtime, place === 'views')) {
    const current = catalog.nativeTool(tool.name);
    if (current !== undefined) {
      const isUnchanged = place !== 'nowhere' && current.resourceTool === tool.resourceTool;
      if (isUnchanged || !registered.has(current)) continue;
      catalog.unregister(tool.name);
    }
    if (place === 'nowhere' || catalog.get(tool.name) !== undefined) continue;
    registered.add(tool);
    catalog.register(tool);
  }
}

const SERVER = { type: 'string', description: 'Server name' };
const SERVER_OR_ALL = { type: 'string', description: 'Server name; omit for all servers' };
const LIST_SCHEMA = { type: 'object', properties: { server: SERVER_OR_ALL }, additionalProperties: false };
const READ_SCHEMA = {
  type: 'object',
  properties: { server: SERVER, uri: { type: 'string', description: 'Resource URI' } },
  required: ['server', 'uri'],
  additionalProperties: false,
};
const PROMPT_SCHEMA = {
  type: 'object',
  properties: {
    server: SERVER,
    name: { type: 'string', description: 'Prompt name' },
    arguments: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['server', 'name'],
  additionalProperties: false,
};

/** Public: each acts with the rights of its caller, so it shows and reads only what the caller may see and read. */
function createResourceTools(runtime: Runtime, inViewsOnly: boolean): readonly NativeTool[] {
  const shared = {
    annotations: { readOnlyHint: true, openWorldHint: false },
    public: true,
    resourceTool: inViewsOnly ? 'views' : 'everywhere',
  } as const;
  return [
    {
      ...shared,
      name: 'list_mcp_resources',
      description: 'List the resources (files, records, documents) of the connected MCP servers.',
      inputSchema: LIST_SCHEMA,
      run: async ({ server }, context) => {
        const wish = [textOf(server), context.caller, optionsOf(context)] as const;
        const [resources, templates] = await Promise.all([
          runtime.listResources(...wish),
          runtime.listResourceTemplates(...wish),
        ]);
        return toListResult(runtime, { resources, templates });
      },
    },
    {
      ...shared,
      name: 'read_mcp_resource',
      description: 'Read one resource from an MCP server by its URI.',
      inputSchema: READ_SCHEMA,
      run: async ({ server, uri }, context) =>
        toResult(await runtime.readResource(String(server), String(uri), optionsOf(context))),
    },
    {
      ...shared,
      name: 'list_mcp_prompts',
      description: 'List the prompts of the connected MCP servers.',
      inputSchema: LIST_SCHEMA,
      run: async ({ server }, context) =>
        toListResult(runtime, {
          prompts: await runtime.listPrompts(textOf(server), context.caller, optionsOf(context)),
        }),
    },
    {
      ...shared,
      name: 'get_mcp_prompt',
      description: 'Get one prompt from an MCP server, with its arguments filled in.',
      inputSchema: PROMPT_SCHEMA,
      run: async ({ server, name, arguments: args }, context) =>
        toResult(await runtime.getPrompt(String(server), String(name), stringsOf(args), optionsOf(context))),
    },
  ];
}

/** The time limits and listeners of the call apply to the read that it makes. */
const optionsOf = ({ signal, caller, nested }: NativeContext) => ({ ...nested, signal, caller });

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const stringsOf = (value: unknown): Readonly<Record<string, string>> =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)])) : {};

/** Without secrets that a server repeats in its lists, like the other lists for programs. */
const toListResult = async (runtime: Runtime, lists: Readonly<Record<string, unknown>>) =>
  toResult((await inSlices(runtime.redactSteps(lists))) as typeof lists);

/** In slices: a resource can be large. */
const toResult = async (value: Readonly<Record<string, unknown>>) => ({
  content: [{ type: 'text', text: await writeInSlices(value) }],
  structuredContent: value,
});
