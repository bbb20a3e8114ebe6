/** Resources and prompts as tools, for agents that only know tools. */
import { type NativeResult, NativeResults, type PageFormat } from '../calls/native-results.js';
import type { CatalogItem } from '../catalog/catalog.js';
import type { NativeContext, NativeTool } from '../catalog/native.js';
import { isRecord } from '../json/is-record.js';
import type { ItemKind } from './item-lists.js';
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
const CURSOR = { type: 'string', description: 'nextCursor from the previous page; omit for the first page' };
const LIST_SCHEMA = {
  type: 'object',
  properties: { server: SERVER_OR_ALL, cursor: CURSOR },
  additionalProperties: false,
};
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
      description:
        'List the resources (files, records, documents) on the connected MCP servers. Long lists are paginated.',
      inputSchema: LIST_SCHEMA,
      run: (input, context) => list(runtime, ['resources', 'templates'], { input, context }),
    },
    {
      ...shared,
      name: 'read_mcp_resource',
      description: 'Read one resource from an MCP server by its URI.',
      inputSchema: READ_SCHEMA,
      run: async ({ server, uri }, context) => {
        const results = new NativeResults(context);
        return results.whole(await runtime.readResource(String(server), String(uri), optionsOf(context)));
      },
    },
    {
      ...shared,
      name: 'list_mcp_prompts',
      description: 'List the prompts on the connected MCP servers. Long lists are paginated.',
      inputSchema: LIST_SCHEMA,
      run: (input, context) => list(runtime, ['prompts'], { input, context }),
    },
    {
      ...shared,
      name: 'get_mcp_prompt',
      description: 'Get one prompt from an MCP server, with its arguments filled in.',
      inputSchema: PROMPT_SCHEMA,
      run: async ({ server, name, arguments: args }, context) => {
        const results = new NativeResults(context);
        const options = optionsOf(context);
        return results.whole(await runtime.getPrompt(String(server), String(name), stringsOf(args), options));
      },
    },
  ];
}

interface ListCall {
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: NativeContext;
}

/** Without secrets that a server repeats in its lists, like the other lists for programs. */
async function list(
  runtime: Runtime,
  kinds: readonly ItemKind[],
  { input, context }: ListCall,
): Promise<NativeResult> {
  const results = new NativeResults(context);
  const query = { server: textOf(input.server), limits: optionsOf(context) };
  const reading = kinds.map((kind) => runtime.visibleItems(kind, context.caller, query));
  const items = await Promise.all(reading);
  const lists = Object.fromEntries(kinds.map((kind, at) => [kind, items[at] ?? []]));
  const format: PageFormat<CatalogItem> = {
    weigh: ({ definition }) => definition,
    toEntry: ({ server, definition }) => runtime.redactSteps({ ...definition, server }),
  };
  return results.page(lists, input.cursor, format);
}

/** The time limits and listeners of the call apply to the read that it makes. */
const optionsOf = ({ signal, caller, nested }: NativeContext) => ({ ...nested, signal, caller });

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const stringsOf = (value: unknown): Readonly<Record<string, string>> =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)])) : {};
