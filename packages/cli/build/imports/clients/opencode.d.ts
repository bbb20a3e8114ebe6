/** opencode: commands are lists; version 2 moved the servers one level down and turned the switch around. */
import type { Client } from '../client.js';
export declare const opencode: Client;
