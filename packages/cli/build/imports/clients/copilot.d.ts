/** Copilot on the command line: every entry says which tools it offers, `*` for all. */
import type { Client } from '../client.js';
export declare const copilot: Client;
