/** Clients on stdin and stdout, through the daemon and without it. */
import { turnbuckle } from '../commands/turnbuckle.js';
import { type StdioClient, startClient } from '../daemon/conversation.js';
import { type Body, codeOf, NO_TOKEN, notATool, readingToolRequest, requestOf } from './requests.js';
import type { Stage } from './stage.js';
import { type Cell, type Guard, OTHER_SERVER, SPENT, type Surface } from './table.js';

type Ask = (method: string, params: Body, cell: Cell) => Promise<unknown>;

const helloOf = (name: string) => ({
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name, version: '1' },
});

/** The name of the client, which is the name of the caller. */
const clientName = (guard: Guard | undefined): string => (guard === 'budget used up' ? SPENT : 'table');

export interface StdioClients {
  ask: Ask;
  close(): Promise<void>;
}

/** Clients of `serve --stdio`, one for each kind of caller. */
export function openStdioClients(stage: () => Stage, words: readonly string[]): StdioClients {
  const clients = new Map<string, Promise<StdioClient>>();
  const begin = async (guard: Guard | undefined): Promise<StdioClient> => {
    const more = guard === 'capability missing' ? ['--capability', OTHER_SERVER] : [];
    const client = startClient(['serve', '--stdio', ...words, ...more], { home: stage().home });
    client.send(0, 'initialize', helloOf(clientName(guard)));
    await client.response(0);
    return client;
  };
  let id = 0;
  return {
    ask: async (method, params, { guard }) => {
      const kind = guard === 'capability missing' ? 'poor' : clientName(guard);
      const begun = clients.get(kind) ?? begin(guard);
      clients.set(kind, begun);
      const client = await begun;
      id += 1;
      const own = id;
      client.send(own, method, params);
      return client.response(own);
    },
    close: async () => {
      for (const client of clients.values()) await (await client).close();
    },
  };
}

interface StdioWay {
  readonly way: 'daemon' | 'own';
  readonly clients: StdioClients;
  readonly isByTool?: boolean;
}

export function stdioSurface(stage: () => Stage, { way, clients, isByTool = false }: StdioWay): Surface {
  /** Without a valid token, the client does not start. */
  const startWithoutToken = async (): Promise<string> => {
    const { home, urlFor, token } = stage();
    const env = {
      MCP_BRIDGE_URL: await urlFor('token revoked'),
      TURNBUCKLE_TOKEN: token('host', 'token revoked'),
    };
    const { stderr } = await turnbuckle(['serve', '--stdio'], { home, env });
    return /error (\w+)/.exec(stderr)?.[1] ?? stderr;
  };
  return {
    name: `${isByTool ? 'resource tool ' : ''}stdio ${way}`,
    who: 'agent',
    approver: way === 'daemon' ? 'available' : 'missing',
    caller: (guard) => `stdio:${clientName(guard)}`,
    attempt: async (cell) =>
      cell.guard === 'token revoked'
        ? startWithoutToken()
        : codeOf(await clients.ask(...(isByTool ? readingToolRequest : requestOf)(cell), cell)),
    notApplicable: (guard, kind) => {
      if (isByTool && kind === 'tool') return notATool(guard, kind);
      if (guard !== 'token revoked') return undefined;
      if (way === 'own') return NO_TOKEN;
      return kind === 'tool' ? undefined : 'without a token the client does not start, whatever the kind';
    },
  };
}
