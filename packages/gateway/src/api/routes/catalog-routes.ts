/** Tools, resources and prompts of the servers. */
import { type CatalogTool, type ConfiguredRuntime, type Runtime, TurnbuckleError } from 'turnbuckle';
import { inSlices, mapSteps, type PinStatus } from 'turnbuckle/host';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { createListTurns, type ListTurns } from '../../http/limits/list-turns.js';
import { redactTexts } from '../../http/redact.js';
import { readQuery } from '../../http/validate.js';
import { hostOrCaller } from '../../identity/host-or-caller.js';
import { withoutFiles } from '../../identity/without-file.js';
import { ANY_OBJECT, DECISION, PIN, TOOL } from '../shapes/shapes.js';
import { visibilityOf } from '../visibility.js';
import { toPin } from './pin-routes.js';

const LIST_QUERY = z.strictObject({
  /** Words that must all occur in name, title or description: at most 16 words and 256 characters. */
  search: z.optional(z.string()),
  server: z.optional(z.string()),
});
const SERVER_QUERY = z.strictObject({ server: z.optional(z.string()) });
const TOOL_DETAILS = z.object({
  ...TOOL.shape,
  inputSchema: ANY_OBJECT,
  outputSchema: z.optional(ANY_OBJECT),
  /** Its pin, if there is one. */
  pin: z.optional(PIN),
  /** The decision for a call without arguments, by the bearer of this token. */
  decision: DECISION,
});
const ITEM = z.looseObject({ server: z.string() });

export function createCatalogRoutes({ runtime }: ConfiguredRuntime): readonly ApiRoute[] {
  const inTurn = createListTurns();
  return [...createToolRoutes(runtime, inTurn), ...createResourceAndPromptRoutes(runtime, inTurn)];
}

function createToolRoutes(runtime: Runtime, inTurn: ListTurns): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/tools',
      access: 'read',
      summary: 'List or search tools',
      query: LIST_QUERY,
      response: z.object({ tools: z.array(TOOL) }),
      handle: inTurn(
        async (context) => {
          const { search = '', server } = readQuery(context, LIST_QUERY);
          const { caller } = visibilityOf(runtime, context);
          const found = await runtime.visibleTools(caller, search);
          return server === undefined ? found : found.filter((tool) => tool.server === server);
        },
        async (found) => {
          const tools = await inSlices(mapSteps(found, (tool) => toToolSummary(tool, runtime)));
          return { tools: await redactTexts(tools, runtime) };
        },
      ),
    },
    {
      method: 'GET',
      path: '/api/tools/:name',
      access: 'read',
      summary: 'Get a tool with its schemas, flags and pin, and the decision a call would get',
      response: TOOL_DETAILS,
      handle: (context) => {
        const { name = '' } = context.parameters;
        const visibility = visibilityOf(runtime, context);
        const found = runtime.catalog.get(name);
        if (found === undefined || !visibility.canSee(found))
          throw new TurnbuckleError('TOOL_UNKNOWN', `There is no tool named "${name}".`, {
            hint: 'List tools: GET /api/tools.',
          });
        const { server, tool, inputSchema, outputSchema } = found;
        const decision = runtime.decide({ server, tool, caller: hostOrCaller(context.caller) });
        const whole = {
          ...toToolSummary(found, runtime),
          inputSchema,
          outputSchema,
          pin: pinOf(runtime, found),
          decision: context.identity.access.has('admin') ? decision : withoutFiles(decision),
        };
        return redactTexts(whole, runtime);
      },
    },
  ];
}

function createResourceAndPromptRoutes(runtime: Runtime, inTurn: ListTurns): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/resources',
      access: 'read',
      summary: 'List resources and resource templates on connected servers',
      query: SERVER_QUERY,
      response: z.object({ resources: z.array(ITEM), templates: z.array(ITEM) }),
      handle: inTurn(
        async (context) => {
          const { server } = readQuery(context, SERVER_QUERY);
          const visibility = visibilityOf(runtime, context);
          if (server !== undefined) visibility.requireServer(server);
          return Promise.all([
            runtime.listResources(server, visibility.caller),
            runtime.listResourceTemplates(server, visibility.caller),
          ]);
        },
        async ([resources, templates]) => ({
          resources: await redactTexts(resources, runtime),
          templates: await redactTexts(templates, runtime),
        }),
      ),
    },
    {
      method: 'GET',
      path: '/api/prompts',
      access: 'read',
      summary: 'List prompts on connected servers',
      query: SERVER_QUERY,
      response: z.object({ prompts: z.array(ITEM) }),
      handle: inTurn(
        async (context) => {
          const { server } = readQuery(context, SERVER_QUERY);
          const visibility = visibilityOf(runtime, context);
          if (server !== undefined) visibility.requireServer(server);
          return runtime.listPrompts(server, visibility.caller);
        },
        async (prompts) => ({ prompts: await redactTexts(prompts, runtime) }),
      ),
    },
  ];
}

const toToolSummary = (found: CatalogTool, runtime: Runtime): Record<string, unknown> => {
  const { name, server, tool, displayName, title, description, annotations, native } = found;
  return {
    ...{ name, server, tool, displayName, title, description, annotations },
    // Computed on access, since it takes a moment for each tool.
    get flags() {
      return found.flags;
    },
    native,
    estimatedEnergyCost: native ? undefined : runtime.energy?.estimate(found),
  };
};

/** An unreadable pin file blocks calls, but the tool is still shown. */
function pinOf(runtime: Runtime, { server, tool }: CatalogTool): unknown {
  try {
    const isMeant = (one: PinStatus): boolean =>
      one.server === server && one.tool === tool && one.agent === undefined;
    const pin = runtime.pins.list().find(isMeant);
    return pin && toPin(pin);
  } catch {
    return undefined;
  }
}
