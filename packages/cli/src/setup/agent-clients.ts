/** The agents that can be connected to the daemon, where their user's file is, and whether they are on this machine. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { homeDirectory } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import type { Client } from '../imports/client.js';
import { CLIENTS } from '../imports/index.js';
import { lookAround, type Place } from '../imports/lookout.js';

/** Those that gather servers themselves, and files that servers are not written into. */
const NO_AGENTS = ['claude-agents', '1mcp', 'mcpproxy', 'mcphub', 'mcporter'];

export const AGENTS: readonly Client[] = CLIENTS.filter(({ id }) => !NO_AGENTS.includes(id));

export interface AgentHere {
  readonly client: Client;
  /** The file that it is, or would be, written into. */
  readonly file: string;
  readonly hasFile: boolean;
}

export const placeOf = ({ environment }: Pick<CommandContext, 'environment'>): Place => ({
  platform: process.platform,
  home: homeDirectory(environment),
  env: environment,
  cwd: process.cwd(),
});

/** The file of its user that is there, or the first one that it would look for. */
export function agentAt(client: Client, place: Place): AgentHere {
  const files = filesOf(client, place);
  const existing = files.find((file) => existsSync(file));
  return { client, file: existing ?? files[0] ?? '', hasFile: existing !== undefined };
}

/** Those with a file, or at least a folder of their own. */
export function agentsHere(place: Place): AgentHere[] {
  const at = lookAround(place);
  const shared = [at.home(), at.config(), at.appData()].map(({ path }) => path);
  return AGENTS.map((client) => agentAt(client, place)).filter(({ client, file, hasFile }) => {
    if (hasFile) return true;
    const folders = filesOf(client, place).map((one) => dirname(one));
    return [...folders, dirname(file)].some((folder) => !shared.includes(folder) && existsSync(folder));
  });
}

function filesOf(client: Client, place: Place): string[] {
  return client
    .candidates(lookAround(place))
    .filter(({ scope, each }) => scope === 'user' && each === undefined)
    .map(({ path }) => path)
    .filter((path) => client.id !== 'claude-code' || path.endsWith('.claude.json'));
}
