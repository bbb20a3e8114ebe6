import type { Listed } from './behaviour.js';
import { InputRequired } from './input-required.js';
import { isObject, type JsonObject, toObject } from './json.js';
import type { Host, Link, Request } from './link.js';
import { type Era, META, MODERN_REVISION } from './revisions.js';
import { INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND, RpcError } from './rpc-error.js';
import { ToolCall } from './tool-call.js';

/** Returned by a method that has sent the response itself, or will never respond. */
export const ANSWERED = Symbol('answered');

type Method = (request: Request, link: Link, host: Host) => unknown;

const LISTS: Readonly<Record<string, Listed>> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
};

const SHARED: Readonly<Record<string, Method>> = {
  'tools/list': list,
  'resources/list': list,
  'resources/templates/list': list,
  'prompts/list': list,
  'tools/call': callTool,
  'resources/read': readResource,
  'prompts/get': getPrompt,
};

const BY_ERA: Readonly<Record<Era, Readonly<Record<string, Method>>>> = {
  legacy: {
    ...SHARED,
    initialize,
    ping: () => ({}),
    'resources/subscribe': ({ params }, link) => {
      link.subscribedUris.add(String(params.uri));
      return {};
    },
    'resources/unsubscribe': ({ params }, link) => {
      link.subscribedUris.delete(String(params.uri));
      return {};
    },
  },
  modern: { ...SHARED, 'server/discover': discover, 'subscriptions/listen': listen },
};

const CACHABLE = new Set(['server/discover', 'resources/read', ...Object.keys(LISTS)]);

/** The result of a request in the shape of its era, or `ANSWERED`. */
export async function answer(request: Request, link: Link, host: Host): Promise<unknown> {
  const methods = BY_ERA[request.era];
  const method = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
  if (method === undefined || !isOffered(request.method, host)) {
    throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`, {
      status: statusOfUnknown(request.era),
    });
  }
  const result = await run(() => method(request, link, host));
  return isObject(result) && request.era === 'modern' ? toModern(result, request.method, host) : result;
}

async function run(method: () => unknown): Promise<unknown> {
  try {
    return await method();
  } catch (thrown) {
    if (thrown instanceof InputRequired) return thrown.result;
    throw thrown;
  }
}

function toModern(result: JsonObject, method: string, host: Host): JsonObject {
  const complete = result.resultType === undefined;
  return {
    resultType: 'complete',
    ...result,
    ...(complete && CACHABLE.has(method) && host.cache),
    _meta: { ...toObject(result._meta), [META.serverInfo]: host.info },
  };
}

function statusOfUnknown(era: Era): number {
  return era === 'modern' ? 404 : 200;
}

function isOffered(method: string, host: Host): boolean {
  const [subject = ''] = method.split('/');
  return !['tools', 'resources', 'prompts'].includes(subject) || host.capabilities[subject] !== undefined;
}

function initialize({ params }: Request, link: Link, host: Host): JsonObject {
  const known = host.dialect.handshakes;
  const requested = String(params.protocolVersion);
  link.revision = known.includes(requested) ? requested : (known.at(-1) ?? requested);
  link.clientCapabilities = toObject(params.capabilities);
  return {
    protocolVersion: link.revision,
    capabilities: host.capabilities,
    serverInfo: host.info,
    ...toInstructions(host),
  };
}

function discover(_: Request, __: Link, host: Host): JsonObject {
  return { supportedVersions: [MODERN_REVISION], capabilities: host.capabilities, ...toInstructions(host) };
}

function toInstructions({ behaviour: { instructions } }: Host): JsonObject {
  return instructions === undefined ? {} : { instructions };
}

function listen({ id, params, reply }: Request, link: Link, host: Host): unknown {
  const { notifications } = params;
  if (!isObject(notifications)) throw new RpcError(INVALID_PARAMS, 'notifications must be a filter');
  const honoured: JsonObject = {};
  for (const kind of ['tools', 'prompts', 'resources']) {
    const key = `${kind}ListChanged`;
    if (notifications[key] === true && host.capabilities[kind]) honoured[key] = true;
  }
  const uris = notifications.resourceSubscriptions;
  if (Array.isArray(uris) && uris.length > 0 && host.capabilities.resources)
    honoured.resourceSubscriptions = uris;
  link.listen(id, honoured, reply);
  return ANSWERED;
}

function list({ method, params }: Request, _: Link, { behaviour }: Host): JsonObject {
  const listed = LISTS[method] ?? 'tools';
  const cursor = typeof params.cursor === 'string' ? params.cursor : undefined;
  const page = behaviour.page?.(listed, cursor);
  if (page) {
    return { [listed]: page.items, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
  }
  if (cursor !== undefined) throw new RpcError(INVALID_PARAMS, `unknown cursor ${cursor}`);
  const all = {
    tools: behaviour.tools,
    resources: behaviour.resources,
    resourceTemplates: behaviour.templates,
    prompts: behaviour.prompts,
  }[listed];
  return { [listed]: (all ?? []).map(({ definition }) => definition) };
}

function callTool(request: Request, link: Link, host: Host): unknown {
  const { name } = request.params;
  const tool = host.behaviour.tools?.find(({ definition }) => definition.name === name);
  if (tool === undefined) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${String(name)}`);
  return tool.run(toObject(request.params.arguments), new ToolCall(request, link, host));
}

function readResource({ params, era }: Request, _: Link, { behaviour }: Host): JsonObject {
  const uri = String(params.uri);
  for (const resource of [...(behaviour.resources ?? []), ...(behaviour.templates ?? [])]) {
    const contents = resource.read(uri);
    if (contents) return { contents };
  }
  const code = era === 'modern' ? INVALID_PARAMS : RESOURCE_NOT_FOUND;
  throw new RpcError(code, 'Resource not found', { data: { uri } });
}

function getPrompt({ params }: Request, _: Link, { behaviour }: Host): JsonObject {
  const prompt = behaviour.prompts?.find(({ definition }) => definition.name === params.name);
  if (prompt === undefined) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${String(params.name)}`);
  return prompt.get(toObject(params.arguments));
}
