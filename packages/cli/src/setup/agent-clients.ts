/** The agents that can be connected to the daemon, where their user's file is, and whether they are on this machine. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { homeDirectory } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import type { Client } from '../imports/client.js';
import { createPathBuilder, type Machine } from '../imports/client-paths.js';
import { CLIENTS } from '../imports/index.js';

/** Those that gather servers themselves, and files that servers are not written into. */
const NON_AGENT_CLIENTS = ['claude-agents', '1mcp', 'mcpproxy', 'mcphub', 'mcporter'];

export const AGENT_CLIENTS: readonly Client[] = CLIENTS.filter(({ id }) => !NON_AGENT_CLIENTS.includes(id));

export interface DetectedAgent {
  readonly client: Client;
  /** The file that it is, or would be, written into. */
  readonly file: string;
  readonly hasFile: boolean;
}

export const currentMachine = ({ environment }: Pick<CommandContext, 'environment'>): Machine => ({
  platform: process.platform,
  home: homeDirectory(environment),
  env: environment,
  cwd: process.cwd(),
});

/** The file of its user that is there, or the first one that it would look for. */
export function detectAgent(client: Client, place: Machine): DetectedAgent {
  const files = filesOf(client, place);
  const existing = files.find((file) => existsSync(file));
  return { client, file: existing ?? files[0] ?? '', hasFile: existing !== undefined };
}

/** Those with a file, or at least a folder of their own. */
export function detectAgents(place: Machine): DetectedAgent[] {
  const at = createPathBuilder(place);
  const shared = [at.home(), at.config(), at.appData()].map(({ path }) => path);
  return AGENT_CLIENTS.map((client) => detectAgent(client, place)).filter(({ client, file, hasFile }) => {
    if (hasFile) return true;
    const folders = filesOf(client, place).map((one) => dirname(one));
    return [...folders, dirname(file)].some((folder) => !shared.includes(folder) && existsSync(folder));
  });
}

function filesOf(client: Client, place: Machine): string[] {
  return client
    .candidates(createPathBuilder(place))
    .filter(({ scope, each }) => scope === 'user' && each === undefined)
    .map(({ path }) => path)
    .filter((path) => client.id !== 'claude-code' || path.endsWith('.claude.json'));
}
