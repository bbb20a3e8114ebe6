import type { CommandContext } from '../command.js';

const PORT = 3_001;

export async function run(context: CommandContext): Promise<number> {
  const { serveHere } = await import('../daemon/serve-here.js');
  return serveHere(context, PORT);
}
