/** The name and the attributes of a request in the conventions for MCP, from its method and params. */
import { isRecord } from '../json/is-record.js';
import type { Attributes } from './client-telemetry.js';

/** Others come from clients, which can make up any number of them. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
  'tasks/cancel',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
  'tools/call',
  'tools/list',
]);

const OTHER_METHOD = '_OTHER';
const MAX_NAME_LENGTH = 256;

export const methodName = (method: string): string => (KNOWN_METHODS.has(method) ? method : OTHER_METHOD);

/** The tool or prompt that a request is about, or its resource. */
export interface RequestTarget {
  readonly tool?: string | undefined;
  readonly prompt?: string | undefined;
  readonly uri?: string | undefined;
}

export function targetOf(method: string, params: Readonly<Record<string, unknown>>): RequestTarget {
  const { name, uri, ref } = params;
  switch (method) {
    case 'tools/call':
      return typeof name === 'string' ? { tool: name } : {};
    case 'prompts/get':
      return typeof name === 'string' ? { prompt: name } : {};
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return typeof uri === 'string' ? { uri } : {};
    case 'completion/complete':
      return isRecord(ref) && typeof ref.name === 'string' ? { prompt: ref.name } : {};
    default:
      return {};
  }
}

/** A name or URI as the value of an attribute. */
export const attributeText = (text: string): string =>
  text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH - 1)}…` : text;

/** What spans and metrics of all requests with this method and target have in common. */
export function operationAttributes(
  method: string,
  { tool, prompt }: RequestTarget,
): { readonly name: string; readonly attributes: Attributes } {
  const known = methodName(method);
  const target = tool ?? prompt;
  return {
    name: target === undefined ? known : `${known} ${target}`,
    attributes: {
      'mcp.method.name': known,
      'gen_ai.operation.name': known === 'tools/call' ? 'execute_tool' : undefined,
      'gen_ai.tool.name': tool,
      'gen_ai.prompt.name': prompt,
    },
  };
}
