import type { CommandContext } from '../command.js';

const DEFAULT_BRIDGE_PORT = 3_001;

export async function run(context: CommandContext): Promise<number> {
  const { serveInForeground } = await import('../serve/serve-foreground.js');
  return serveInForeground(context, DEFAULT_BRIDGE_PORT);
}
