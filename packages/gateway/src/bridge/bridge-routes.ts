/** The bridge over HTTP: any program in any language makes one POST and has called an MCP tool. */
import { type CatalogTool, MAX_NAME, type Runtime, type TurnbuckleError, writeInSlices } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from '../api/api-route.js';
import { cleanTexts, UNTOLD } from '../api/clean.js';
import { NOTHING, readQuery } from '../api/fit.js';
import { hostOrCaller } from '../host-or-caller.js';
import { sendCounted } from '../http/answer.js';
import { textMap } from '../http/any-object.js';
import { readJson } from '../http/body.js';
import { retryAfterSeconds } from '../http/safe-data.js';
import { SharedTurns } from '../http/shared-turns.js';
import type { Visit } from '../http/visit.js';
import { knowsServer } from '../knows-server.js';
import { EventStream } from '../mcp/event-stream.js';
import { BatchAnswer } from './batch-answer.js';
import { type Bridge, type BridgeAnswer, CALL_ANSWER, CALL_BODY, type CallBody } from './bridge-call.js';

const MOST_CALLS = 100;
const AT_ONCE = 16;
const MAX_PROMPT_ARGUMENTS = 1_000;
/** Lists that are made and wait to be: each is the work of many calls. */
const MAX_LISTS = 256;
const OWN_LISTS_AT_ONCE = 4;

const CALLS_BODY = z.strictObject({
  calls: z.array(CALL_BODY).check(z.minLength(1), z.maxLength(MOST_CALLS)),
});
const CALLS_ANSWER = z.object({ results: z.array(CALL_ANSWER) });
const SERVER = z.string().check(z.maxLength(256));
const NAME = z.string().check(z.maxLength(MAX_NAME));
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
      summary: 'Call a tool of a configured server, or of an endpoint given in the request',
      body: CALL_BODY,
      answer: CALL_ANSWER,
      handle: async (visit) => answerCall(visit, bridge, await readJson(visit, CALL_BODY)),
    },
    {
      method: 'POST',
      path: '/mcp/calls',
      access: 'call',
      summary: 'Several calls at once; the answers stand in the order of the calls',
      body: CALLS_BODY,
      answer: CALLS_ANSWER,
      handle: async (visit) => {
        const { calls } = await readJson(visit, CALLS_BODY);
        const answer = new BatchAnswer(visit);
        await inParallel(calls, async (call, index) => {
          await answer.room(index);
          const { body } = await bridge.call(call, visit);
          answer.put(index, await writeInSlices(body));
        });
        answer.end();
        return undefined;
      },
    },
    ...createListRoutes(bridge),
  ];
  return routes.map(withCheckedQuery);
}

/** What is misspelt there would mean nothing, and the answer would be another than was asked for. */
const withCheckedQuery = (route: ApiRoute): ApiRoute => ({
  ...route,
  handle: (visit) => {
    if (visit.path !== visit.request.url) readQuery(visit, route.query ?? NOTHING);
    return route.handle(visit);
  },
});

function createListRoutes(bridge: Bridge): readonly ApiRoute[] {
  const { runtime } = bridge;
  const turns = new SharedTurns({ what: 'lists', max: MAX_LISTS, ownAtOnce: OWN_LISTS_AT_ONCE });
  // Written before the next one is made, so that there is one of them at a time, and none for who has left.
  const inTurn =
    (make: (visit: Visit) => Promise<object>) =>
    (visit: Visit): Promise<undefined> =>
      turns.take(visit.visitor, async () => {
        if (!visit.signal.aborted) sendCounted(visit, 200, await writeInSlices(await make(visit)));
        return undefined;
      });
  return [
    {
      method: 'GET',
      path: '/tools',
      access: 'call',
      summary: 'The tools that the token may call',
      query: TOOLS_QUERY,
      handle: inTurn(async ({ caller, query }) => {
        const tools = await runtime.visibleTools(caller, query.get('search') ?? '');
        return { tools: await cleanItems(tools.map(toSent), ['name', 'server', 'tool'], runtime) };
      }),
    },
    {
      method: 'GET',
      path: '/servers',
      access: 'call',
      summary: 'The servers behind them, and how they are',
      handle: (visit) => ({ servers: serversFor(runtime, visit) }),
    },
    {
      method: 'GET',
      path: '/resources',
      access: 'call',
      summary: 'The resources that the token may read',
      handle: inTurn(async ({ caller }) => {
        const resources = await runtime.listResources(undefined, caller);
        return { resources: await cleanItems(resources, ['server', 'uri'], runtime) };
      }),
    },
    {
      method: 'POST',
      path: '/resources/read',
      access: 'call',
      summary: 'Read a resource',
      body: READ_BODY,
      handle: async (visit) => {
        const { server, uri } = await readJson(visit, READ_BODY);
        return { success: true, result: await runtime.readResource(server, uri, bridge.optionsOf(visit)) };
      },
    },
    {
      method: 'GET',
      path: '/prompts',
      access: 'call',
      summary: 'The prompts that the token may use',
      handle: inTurn(async ({ caller }) => {
        const prompts = await runtime.listPrompts(undefined, caller);
        return { prompts: await cleanItems(prompts, ['server', 'name'], runtime) };
      }),
    },
    {
      method: 'POST',
      path: '/prompts/get',
      access: 'call',
      summary: 'Get a prompt with its arguments filled in',
      body: PROMPT_BODY,
      handle: async (visit) => {
        const { server, name, arguments: args } = await readJson(visit, PROMPT_BODY);
        return {
          success: true,
          result: await runtime.getPrompt(server, name, args, bridge.optionsOf(visit)),
        };
      },
    },
  ];
}

const toSent = (found: CatalogTool) => {
  const { name, server, tool, title, description, inputSchema, outputSchema, annotations } = found;
  return {
    ...{ name, server, tool, title, description },
    input_schema: inputSchema,
    output_schema: outputSchema,
    annotations,
  };
};

/** Without the secrets that a server may repeat in what it lists. What an item is used by stays as it is. */
async function cleanItems<Item extends object>(
  items: readonly Item[],
  usedBy: ReadonlyArray<keyof Item>,
  runtime: Runtime,
): Promise<object[]> {
  const clean = (await cleanTexts(items, runtime)) as readonly object[];
  return items.map((item, at) => ({
    ...clean[at],
    ...Object.fromEntries(usedBy.map((key) => [key, item[key]])),
  }));
}

/** A server of which the caller may use nothing is not there. Of one without tools, the word for the server counts. */
function serversFor(runtime: Runtime, { caller, visitor }: Visit): object[] {
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
      ...errorFor(error, visitor.access.has('manage')),
    }));
}

/** Where things are on this machine is for who manages it; an agent learns what is wrong, and that somebody has to look. */
function errorFor(error: TurnbuckleError | undefined, isManager: boolean): object {
  if (error === undefined) return {};
  const { code, message } = error;
  return { code, error: isManager ? message : UNTOLD };
}

/** As JSON, or, for who asks for it, as events: `progress` as it comes, then `result`. */
async function answerCall(visit: Visit, bridge: Bridge, body: CallBody): Promise<undefined> {
  const { request, response } = visit;
  if (request.headers.accept?.includes('text/event-stream') !== true) {
    await send(visit, await bridge.call(body, visit));
    return undefined;
  }
  const stream = new EventStream(response);
  const onProgress = (progress: object): void => stream.send(JSON.stringify(progress), 'progress');
  const answer = await bridge.call(body, visit, onProgress);
  stream.sendAlways(await writeInSlices(answer.body), 'result');
  stream.end();
  return undefined;
}

async function send(visit: Visit, { http, body }: BridgeAnswer): Promise<void> {
  const { response } = visit;
  const retryAfter = retryAfterSeconds(body.data);
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  sendCounted(visit, http, await writeInSlices(body));
}

async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const queue = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
