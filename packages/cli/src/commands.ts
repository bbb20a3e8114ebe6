/** The command table: everything that help, completion and the reference page know about a command. */
import type { Command } from './command.js';
import { CONFIG_COMMANDS } from './command-table/config-commands.js';
import { DAEMON_COMMANDS } from './command-table/daemon-commands.js';
import { MANAGE_COMMANDS } from './command-table/manage-commands.js';
import { STEWARD_COMMANDS } from './command-table/steward-commands.js';
import { USE_COMMANDS } from './command-table/use-commands.js';

export const COMMANDS: readonly Command[] = [
  ...USE_COMMANDS,
  ...DAEMON_COMMANDS,
  ...MANAGE_COMMANDS,
  ...STEWARD_COMMANDS,
  ...CONFIG_COMMANDS,
];
