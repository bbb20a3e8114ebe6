/**
 * Pins the tools of a server that passed a test before it is configured: what was tested is what was approved. A tool that
 * differs from then, or was not there, needs approval.
 */
import type { CatalogTool } from '../catalog/tool.js';
import { type Pin, type PinFile, PinStore } from './pin-store.js';
import { createDefinitionPins, type PinnedDefinition } from './pinned-definition.js';

/** Plain data: it can be stored between the test and the pinning. */
export interface TestedTool extends PinnedDefinition {
  readonly tool: string;
}

/** Of the definitions of one server together. */
const MAX_TOTAL_LENGTH = 256 * 1_024;

export function toTestedTools(tools: readonly CatalogTool[]): TestedTool[] {
  const pinOf = createDefinitionPins(MAX_TOTAL_LENGTH);
  return tools.map(({ tool, definition }) => ({ tool, ...pinOf(definition) }));
}

export interface TestedServer {
  readonly stateDir: string;
  readonly server: string;
}

/** Replaces all pins of a server of that name. */
export async function pinTestedTools(
  { stateDir, server, now }: TestedServer & { readonly now: () => number },
  tools: readonly TestedTool[],
): Promise<void> {
  const pinnedAt = new Date(now()).toISOString();
  const pins = tools.map((tool): Pin => ({ server, ...tool, by: 'test', pinnedAt }));
  await new PinStore(stateDir).change((before) => {
    const rest = withoutServer(before, server);
    return { ...rest, pins: [...rest.pins, ...pins], tested: [...(rest.tested ?? []), server] };
  });
}

/** Takes `pinTestedTools` back. */
export async function unpinTestedTools({ stateDir, server }: TestedServer): Promise<void> {
  await new PinStore(stateDir).change((before) =>
    before.tested?.includes(server) === true ? withoutServer(before, server) : before,
  );
}

/** The file without anything that was pinned for this server. */
export function withoutServer({ pins, servers, agents, tested }: PinFile, server: string): PinFile {
  return {
    pins: pins.filter((pin) => pin.server !== server),
    servers: servers.filter((name) => name !== server),
    ...(agents !== undefined && { agents: agents.filter((list) => list.server !== server) }),
    ...(tested !== undefined && { tested: tested.filter((name) => name !== server) }),
  };
}
