/** What the servers offer. */
import { type CatalogTool, type ConfiguredRuntime, type Runtime, TurnbuckleError } from 'turnbuckle';
import * as z from 'zod/mini';
import { hostOrCaller } from '../host-or-caller.js';
import type { ApiRoute } from './api-route.js';
import { cleanTexts } from './clean.js';
import { readQuery } from './fit.js';
import { toPin } from './pin-routes.js';
import { ANYTHING, DECISION, PIN, TOOL } from './shapes.js';
import { sightOf } from './sight.js';

const LIST_QUERY = z.strictObject({
  /** Words that must all occur in name, title or description: 16 at most, with 256 characters. */
  search: z.optional(z.string()),
  server: z.optional(z.string()),
});
const SERVER_QUERY = z.strictObject({ server: z.optional(z.string()) });
const WHOLE_TOOL = z.object({
  ...TOOL.shape,
  inputSchema: ANYTHING,
  outputSchema: z.optional(ANYTHING),
  /** What was approved of it, if anything was. */
  pin: z.optional(PIN),
  /** What would be decided about a call without arguments, by the bearer of this token. */
  decision: DECISION,
});
const ITEM = z.looseObject({ server: z.string() });

export function createCatalogRoutes({ runtime }: ConfiguredRuntime): readonly ApiRoute[] {
  return [...createToolRoutes(runtime), ...createOfferRoutes(runtime)];
}

function createToolRoutes(runtime: Runtime): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/tools',
      access: 'look',
      summary: 'All tools, or those with these words',
      query: LIST_QUERY,
      answer: z.object({ tools: z.array(TOOL) }),
      handle: async (visit) => {
        const { search = '', server } = readQuery(visit, LIST_QUERY);
        const { caller } = sightOf(runtime, visit);
        const found = await runtime.visibleTools(caller, search);
        const meant = found.filter((tool) => (server ?? tool.server) === tool.server);
        return { tools: await cleanTexts(meant.map(toListed), runtime) };
      },
    },
    {
      method: 'GET',
      path: '/api/tools/:name',
      access: 'look',
      summary: 'A tool with its schemas, its flags, its pin, and what would be decided about a call',
      answer: WHOLE_TOOL,
      handle: (visit) => {
        const { name = '' } = visit.parameters;
        const sight = sightOf(runtime, visit);
        const found = runtime.catalog.get(name);
        if (found === undefined || !sight.sees(found))
          throw new TurnbuckleError('TOOL_UNKNOWN', `There is no tool named "${name}".`, {
            hint: 'GET /api/tools lists those that there are.',
          });
        const { server, tool, inputSchema, outputSchema } = found;
        const whole = {
          ...toListed(found),
          inputSchema,
          outputSchema,
          pin: pinOf(runtime, found),
          decision: runtime.decide({ server, tool, caller: hostOrCaller(visit.caller) }),
        };
        return cleanTexts(whole, runtime);
      },
    },
  ];
}

function createOfferRoutes(runtime: Runtime): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/resources',
      access: 'look',
      summary: 'The resources, and templates of addresses, of the servers that are up',
      query: SERVER_QUERY,
      answer: z.object({ resources: z.array(ITEM), templates: z.array(ITEM) }),
      handle: async (visit) => {
        const { server } = readQuery(visit, SERVER_QUERY);
        const sight = sightOf(runtime, visit);
        if (server !== undefined) sight.requireServer(server);
        const [resources, templates] = await Promise.all([
          runtime.listResources(server, sight.caller),
          runtime.listResourceTemplates(server, sight.caller),
        ]);
        return cleanTexts({ resources, templates }, runtime);
      },
    },
    {
      method: 'GET',
      path: '/api/prompts',
      access: 'look',
      summary: 'The prompts of the servers that are up',
      query: SERVER_QUERY,
      answer: z.object({ prompts: z.array(ITEM) }),
      handle: async (visit) => {
        const { server } = readQuery(visit, SERVER_QUERY);
        const sight = sightOf(runtime, visit);
        if (server !== undefined) sight.requireServer(server);
        return cleanTexts({ prompts: await runtime.listPrompts(server, sight.caller) }, runtime);
      },
    },
  ];
}

const toListed = (found: CatalogTool): Record<string, unknown> => {
  const { name, server, tool, displayName, title, description, annotations, native } = found;
  return {
    ...{ name, server, tool, displayName, title, description, annotations },
    // They are looked for when they are asked for, which takes a moment for each tool.
    get flags() {
      return found.flags;
    },
    native,
  };
};

/** A file of pins that cannot be read holds calls back; it is no reason not to show the tool. */
function pinOf(runtime: Runtime, { server, tool }: CatalogTool): unknown {
  try {
    const pin = runtime.pins.list().find((one) => one.server === server && one.tool === tool);
    return pin && toPin(pin);
  } catch {
    return undefined;
  }
}
