/** The bridge over HTTP: any program in any language calls an MCP tool with one POST. */
import type { CatalogTool, Runtime, TurnbuckleError } from 'turnbuckle';
import { type CatalogItem, inSlices, MAX_NAME_LENGTH, mapSteps, writeInSlices } from 'turnbuckle/host';
import * as z from 'zod/mini';
import { textMap } from '../http/any-object.js';
import type { ApiRoute } from '../http/api-route.js';
import { EventStream } from '../http/event-stream.js';
import { createListTurns } from '../http/limits/list-turns.js';
import { HIDDEN_ERROR_MESSAGE, redactTexts } from '../http/redact.js';
import type { RequestContext } from '../http/request-context.js';
import { sendWithinLimit } from '../http/response.js';
import { retryAfterSeconds } from '../http/safe-data.js';
import { EMPTY_OBJECT, readJson, readQuery } from '../http/validate.js';
import { hostOrCaller } from '../identity/host-or-caller.js';
import { knowsServer } from '../identity/knows-server.js';
import { BatchResponse } from './batch-response.js';
import { type Bridge, type BridgeResponse, CALL_BODY, CALL_RESPONSE, type CallBody } from './bridge-call.js';

const MAX_BATCH_CALLS = 100;
const BATCH_CONCURRENCY = 16;
const MAX_PROMPT_ARGUMENTS = 1_000;
/** Servers that have not listed their items by then are left out; they continue, for the next request. */
const MAX_LIST_WAIT_MS = 10_000;

const CALLS_BODY = z.strictObject({
  calls: z.array(CALL_BODY).check(z.minLength(1), z.maxLength(MAX_BATCH_CALLS)),
});
const CALLS_RESPONSE = z.object({ results: z.array(CALL_RESPONSE) });
const SERVER = z.string().check(z.maxLength(256));
const NAME = z.string().check(z.maxLength(MAX_NAME_LENGTH));
const READ_BODY = z.strictObject({ server: SERVER, uri: NAME });
const PROMPT_BODY = z.strictObject({
  server: SERVER,
  name: NAME,
  arguments: z.optional(textMap(MAX_PROMPT_ARGUMENTS, z.record(z.string(), z.string()))),
});

const TOOLS_QUERY = z.strictObject({
  /** Words in names and descriptions. */
  search: z.optional(z.string()),
});

export function createBridgeRoutes(bridge: Bridge): readonly ApiRoute[] {
  const routes: readonly ApiRoute[] = [
    {
      method: 'POST',
      path: '/mcp/call',
      access: 'call',
      summary: 'Call a tool on a configured server, or on a server described in the request',
      body: CALL_BODY,
      response: CALL_RESPONSE,
      handle: async (context) => respondToCall(context, bridge, await readJson(context, CALL_BODY)),
    },
    {
      method: 'POST',
      path: '/mcp/calls',
      access: 'call',
      summary: 'Make several calls in one request; the results are in the order of the calls',
      body: CALLS_BODY,
      response: CALLS_RESPONSE,
      handle: async (context) => {
        const { calls } = await readJson(context, CALLS_BODY);
        const answer = new BatchResponse(context);
        await inParallel(calls, async (call, index) => {
          await answer.waitForCapacity(index);
          const { body } = await bridge.call(call, context);
          answer.setResult(index, await writeInSlices(body));
        });
        answer.end();
        return undefined;
      },
    },
    ...createListRoutes(bridge),
    ...createReadRoutes(bridge),
  ];
  return routes.map(withCheckedQuery);
}

/** Unknown parameters are rejected: a misspelt one would silently change the response. */
const withCheckedQuery = (route: ApiRoute): ApiRoute => ({
  ...route,
  handle: (context) => {
    if (context.path !== context.request.url) readQuery(context, route.query ?? EMPTY_OBJECT);
    return route.handle(context);
  },
});

function createListRoutes(bridge: Bridge): readonly ApiRoute[] {
  const { runtime } = bridge;
  const inTurn = createListTurns();
  const itemsFor =
    (kind: 'resources' | 'prompts') =>
    ({ caller, signal }: RequestContext) =>
      runtime.visibleItems(kind, caller, { limits: { maxTotalMs: MAX_LIST_WAIT_MS, signal } });
  return [
    {
      method: 'GET',
      path: '/tools',
      access: 'call',
      summary: 'List the tools that the token may call',
      query: TOOLS_QUERY,
      handle: inTurn(
        ({ caller, query }) => runtime.visibleTools(caller, query.get('search') ?? ''),
        async (tools) => {
          const shown = await inSlices(mapSteps(tools, (tool) => toBridgeTool(tool, runtime)));
          return { tools: await redactItems(shown, ['name', 'server', 'tool'], runtime) };
        },
      ),
    },
    {
      method: 'GET',
      path: '/servers',
      access: 'call',
      summary: 'List the servers that the token may use, with their status',
      handle: (context) => ({ servers: serversFor(runtime, context) }),
    },
    {
      method: 'GET',
      path: '/resources',
      access: 'call',
      summary: 'List the resources that the token may read',
      handle: inTurn(itemsFor('resources'), async (items) => {
        const resources = await inSlices(mapSteps(items, toListed<'uri'>));
        return { resources: await redactItems(resources, ['server', 'uri'], runtime) };
      }),
    },
    {
      method: 'GET',
      path: '/prompts',
      access: 'call',
      summary: 'List the prompts that the token may use',
      handle: inTurn(itemsFor('prompts'), async (items) => {
        const prompts = await inSlices(mapSteps(items, toListed<'name'>));
        return { prompts: await redactItems(prompts, ['server', 'name'], runtime) };
      }),
    },
  ];
}

function createReadRoutes(bridge: Bridge): readonly ApiRoute[] {
  const { runtime } = bridge;
  return [
    {
      method: 'POST',
      path: '/resources/read',
      access: 'call',
      summary: 'Read a resource',
      body: READ_BODY,
      handle: async (context) => {
        const { server, uri } = await readJson(context, READ_BODY);
        const request = { method: 'resources/read', params: { uri }, server };
        const result = await bridge.perform(context, request, (options) =>
          runtime.readResource(server, uri, options),
        );
        return { success: true, result };
      },
    },
    {
      method: 'POST',
      path: '/prompts/get',
      access: 'call',
      summary: 'Get a prompt with its arguments filled in',
      body: PROMPT_BODY,
      handle: async (context) => {
        const { server, name, arguments: args } = await readJson(context, PROMPT_BODY);
        const request = { method: 'prompts/get', params: { name }, server };
        const result = await bridge.perform(context, request, (options) =>
          runtime.getPrompt(server, name, args, options),
        );
        return { success: true, result };
      },
    },
  ];
}

const toBridgeTool = (found: CatalogTool, runtime: Runtime) => {
  const { name, server, tool, title, description, inputSchema, outputSchema, annotations, native } = found;
  return {
    ...{ name, server, tool, title, description },
    input_schema: inputSchema,
    output_schema: outputSchema,
    annotations,
    estimatedEnergyCost: native ? undefined : runtime.energy?.estimate(found),
  };
};

/** As its server wrote it, plus the server's name. */
const toListed = <Key extends string>({ server, definition }: CatalogItem) => ({
  ...(definition as Record<Key, unknown>),
  server,
});

/** Without secrets that a server may repeat in its lists. Identifiers stay unchanged. */
async function redactItems<Item extends object>(
  items: readonly Item[],
  usedBy: ReadonlyArray<keyof Item>,
  runtime: Runtime,
): Promise<object[]> {
  const clean = (await redactTexts(items, runtime)) as readonly object[];
  const withIdentifiers = mapSteps(items, (item, at) => ({
    ...clean[at],
    ...Object.fromEntries(usedBy.map((key) => [key, item[key]])),
  }));
  return inSlices(withIdentifiers);
}

/** A server that the caller may not use is hidden. For a server without tools, its own capability counts. */
function serversFor(runtime: Runtime, { caller, identity }: RequestContext): object[] {
  const isOwner = hostOrCaller(caller) === undefined;
  const mayUse = (server: string): boolean => !runtime.decide({ server, tool: '', caller }).hidden;
  return runtime
    .status()
    .filter(
      ({ name, tools }) =>
        isOwner || knowsServer(runtime, name, caller) || (tools.length === 0 && mayUse(name)),
    )
    .map(({ name, status, transport, era, tools, error }) => ({
      ...{ name, status, transport, era },
      tools: tools.length,
      ...errorFor(error, identity.access.has('admin')),
    }));
}

/** Details of this machine are for managers; an agent learns the error code, and that the owner can see the details. */
function errorFor(error: TurnbuckleError | undefined, isManager: boolean): object {
  if (error === undefined) return {};
  const { code, message } = error;
  return { code, error: isManager ? message : HIDDEN_ERROR_MESSAGE };
}

/** As JSON or, if requested, as events: `progress` as it comes, then `result`. */
async function respondToCall(context: RequestContext, bridge: Bridge, body: CallBody): Promise<undefined> {
  const { request, response } = context;
  if (request.headers.accept?.includes('text/event-stream') !== true) {
    await send(context, await bridge.call(body, context));
    return undefined;
  }
  const stream = new EventStream(response);
  const onProgress = (progress: object): void => stream.send(JSON.stringify(progress), 'progress');
  const answer = await bridge.call(body, context, onProgress);
  stream.sendAlways(await writeInSlices(answer.body), 'result');
  stream.end();
  return undefined;
}

async function send(context: RequestContext, { http, body }: BridgeResponse): Promise<void> {
  const { response } = context;
  const retryAfter = retryAfterSeconds(body.data);
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  sendWithinLimit(context, http, await writeInSlices(body));
}

async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const queue = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: BATCH_CONCURRENCY }, worker));
}
