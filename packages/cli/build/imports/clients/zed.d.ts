/** Zed: `context_servers`; older files nest the command, and extensions bring servers of their own. */
import type { Client } from '../client.js';
export declare const zed: Client;
