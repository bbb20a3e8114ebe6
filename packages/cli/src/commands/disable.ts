import type { CommandContext } from '../command.js';
import { reloadDaemon } from '../daemon/reload-daemon.js';
import { switchServers } from '../session/switch-servers.js';

export async function run(context: CommandContext): Promise<void> {
  await switchServers(context, 'disable');
  await reloadDaemon(context);
}
