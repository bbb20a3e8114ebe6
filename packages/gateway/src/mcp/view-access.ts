/** Who may know that there is a view: who could ever use anything in it. To all others it is as if it were not there. */
import { type Caller, type Runtime, TurnbuckleError } from 'turnbuckle';
import { hostOrCaller } from '../host-or-caller.js';
import { knowsServer } from '../knows-server.js';
import { callerIn, type Desk } from './desk.js';

const NATIVE = 'native';
const KINDS = ['tool', 'resource', 'prompt'] as const;

/** Whether its servers are up does not matter: a client must not be turned away because of one that is away. */
export function mayKnowView(desk: Desk, caller: Caller): boolean {
  if (hostOrCaller(caller) === undefined) return true;
  const { runtime, surface } = desk;
  const who = callerIn(desk, caller);
  const servers = surface.view.options.servers ?? [...runtime.serverNames(), NATIVE];
  return servers.some((server) => hasWordFor(server, who) && rulesLeave(runtime, server, who));
}

/** A word for the server or for something of it, whatever that is. */
const hasWordFor = (server: string, { capabilities }: Caller): boolean =>
  capabilities.some(
    (word) =>
      word === 'mcp_integration' ||
      word === `mcp:${server}` ||
      word === `mcp_${server}` ||
      word.startsWith(`mcp:${server}/`) ||
      word.startsWith(`mcp_${server}_`),
  );

/** Whether rules leave anything of the server to who has all words. */
function rulesLeave(runtime: Runtime, server: string, caller: Caller): boolean {
  const able = { ...caller, capabilities: [...caller.capabilities, 'mcp_integration'] };
  const isOpen = KINDS.some((kind) => !runtime.decide({ server, tool: '', kind, caller: able }).hidden);
  if (isOpen || knowsServer(runtime, server, caller)) return true;
  // Of what was not listed yet, and of what is no tool, a rule may let something through by its name.
  const rules = [...runtime.rules, ...(caller.limits?.rules ?? [])];
  const isListed = runtime.catalog.stateOf(server, 'tools', 0) === 'ready';
  return rules.some(
    ({ rule: { action, tool, kind, server: of } }) =>
      action !== 'deny' &&
      tool !== undefined &&
      (of === undefined || of === server || typeof of !== 'string' || of.includes('*')) &&
      !(isListed && kind === 'tool'),
  );
}

export const unknownView = (view: string | undefined): TurnbuckleError =>
  new TurnbuckleError('PATH_UNKNOWN', `There is no view named "${view}".`, {
    hint: 'Views are in daemon.views of your configuration: turnbuckle config shows its files.',
  });
