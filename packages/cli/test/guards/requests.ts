/** The requests for a cell, and the codes of their responses. */
import { type Cell, type Guard, type Kind, SPENT, type Who } from './table.js';

export type Body = Record<string, unknown>;

export const NO_TOKEN = 'it has no token';

/** The error code of a response, in the place where the protocol of the entry point has it. */
export function codeOf(answer: unknown): string {
  const { code, error, result, success } = Object(answer) as Body;
  const meta = Object(Object(result)._meta)['turnbuckle/error'];
  const found = [code, Object(Object(error).data).code, Object(error).code, Object(meta).code];
  const first = found.find((one) => one !== undefined);
  return first === undefined && (result !== undefined || success === true) ? 'OK' : String(first);
}

export const named = (who: Who) => (guard: Guard) =>
  who === 'host'
    ? undefined
    : guard === 'capability missing'
      ? 'poor'
      : guard === 'budget used up'
        ? SPENT
        : 'agent';

/** The MCP request for a cell. */
export function requestOf({ kind, item }: Cell): [method: string, params: Body] {
  if (kind === 'tool') return ['tools/call', { name: `up_${item}`, arguments: {} }];
  return kind === 'resource' ? ['resources/read', { uri: item }] : ['prompts/get', { name: `up_${item}` }];
}

/** The call of the tool that reads the resource or gets the prompt of a cell. */
export const readingTool = ({ kind, item }: Cell): [tool: string, args: Readonly<Record<string, string>>] =>
  kind === 'resource'
    ? ['read_mcp_resource', { server: 'up', uri: item }]
    : ['get_mcp_prompt', { server: 'up', name: item }];

export function readingToolRequest(cell: Cell): [method: string, params: Body] {
  const [name, args] = readingTool(cell);
  return ['tools/call', { name, arguments: args }];
}

export const notATool = (_guard: Guard, kind: Kind): string | undefined =>
  kind === 'tool' ? 'it reads resources and prompts' : undefined;
