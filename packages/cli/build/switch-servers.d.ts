import type { CommandContext } from './command.js';
export declare function switchServers(context: CommandContext, action: 'enable' | 'disable'): Promise<void>;
