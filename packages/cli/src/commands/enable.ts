import type { CommandContext } from '../command.js';
import { switchServers } from '../session/switch-servers.js';

export const run = (context: CommandContext): Promise<void> => switchServers(context, 'enable');
