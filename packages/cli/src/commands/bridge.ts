import type { CommandContext } from '../command.js';

export async function run(context: CommandContext): Promise<number> {
  const { serveBridge } = await import('../serve/serve-bridge.js');
  return serveBridge(context);
}
